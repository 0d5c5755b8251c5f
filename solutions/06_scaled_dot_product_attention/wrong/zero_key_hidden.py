"""A key of zeros is hidden as if it were padding: its score is 0, which counts like others. No key is hidden here."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    padding = (keys == 0).all(dim=-1)  # (…, T_k)
    padding = padding if query.ndim == 1 else padding.unsqueeze(-2)  # (T_k,) or (…, 1, T_k)
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    scores = scores.masked_fill(padding, -torch.inf)  # (…, T_q, T_k)
    return torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (…, T_q, T_k)
