"""The weights are returned instead of the context: the last step, weights times values, is missing."""


def scaled_dot_product_attention(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return scaled_attention_weights(query, keys)  # (…, T_q, T_k)
