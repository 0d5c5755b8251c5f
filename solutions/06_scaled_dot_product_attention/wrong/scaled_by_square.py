"""The scores are divided by d_k squared: divide by the square root of d_k."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    return torch.softmax(scores / keys.shape[-1] ** 2, dim=-1)  # (…, T_q, T_k)
