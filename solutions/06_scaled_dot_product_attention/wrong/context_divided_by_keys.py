"""The weighted sum is divided by the number of keys: the weights sum to 1 already."""


def scaled_dot_product_attention(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return (
        scaled_attention_weights(query, keys) @ values / keys.shape[-2]
    )  # (…, T_q, T_k) @ (…, T_k, d_v) -> (…, T_q, d_v)
