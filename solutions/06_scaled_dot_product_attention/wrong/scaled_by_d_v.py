"""The context vectors come from scores scaled by √d_v: the scale is the size of queries and keys, d_k."""


def scaled_dot_product_attention(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    weights = torch.softmax(scores / values.shape[-1] ** 0.5, dim=-1)  # (…, T_q, T_k)
    return weights @ values  # (…, T_q, d_v)
