"""The weights are multiplied by the values entry by entry: a context vector is their matrix product."""


def scaled_dot_product_attention(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return scaled_attention_weights(query, keys) * values  # (…, T_q, T_k) @ (…, T_k, d_v) -> (…, T_q, d_v)
