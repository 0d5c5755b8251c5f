"""The softmax by hand loses a dimension in the sum: with keepdim=True each sum stands beside its row."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    exponentials = torch.exp(scores / keys.shape[-1] ** 0.5)  # (…, T_q, T_k)
    return exponentials / exponentials.sum(dim=-1)  # (…, T_q, T_k)
