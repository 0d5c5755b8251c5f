"""One query gives a matrix of one row: a vector goes in, so a vector comes out. Take the dimension off again."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    if query.ndim == 1:
        query = query.unsqueeze(0)  # (1, d_k)
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    return torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (…, T_q, T_k)
