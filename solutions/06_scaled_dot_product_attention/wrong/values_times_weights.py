"""The values stand on the left: weights @ values has a row for each query."""


def scaled_dot_product_attention(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return values @ scaled_attention_weights(query, keys)  # (…, T_q, T_k) @ (…, T_k, d_v) -> (…, T_q, d_v)
