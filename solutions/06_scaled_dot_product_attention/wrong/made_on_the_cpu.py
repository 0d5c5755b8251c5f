"""A new tensor is made on the CPU and in float32, wherever the inputs are: look at new_zeros or zeros_like."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    weights = torch.zeros(scores.shape)  # (…, T_q, T_k)
    weights[...] = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (…, T_q, T_k)
    return weights  # (…, T_q, T_k)
