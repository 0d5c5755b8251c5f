"""The query dimension is squeezed away wherever it is 1: one query (d_k,) loses it, but (…, 1, d_k) keeps it."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = torch.atleast_2d(query) @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (…, T_q, T_k)
    return weights.squeeze(-2)
