"""A causal mask hides the later keys: here every query sees all keys. Masks come later, look at is_causal."""


def scaled_dot_product_attention(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    if query.ndim == 1:
        return scaled_attention_weights(query, keys) @ values  # (…, T_q, T_k) @ (…, T_k, d_v) -> (…, T_q, d_v)
    return torch.nn.functional.scaled_dot_product_attention(query, keys, values, is_causal=True)  # (…, T_q, d_v)
