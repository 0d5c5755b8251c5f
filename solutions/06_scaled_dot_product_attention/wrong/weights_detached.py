"""The weights are cut off from the gradient: queries and keys then never learn. Look for detach, .data or no_grad."""


def scaled_dot_product_attention(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return scaled_attention_weights(query, keys).detach() @ values  # (…, T_q, T_k) @ (…, T_k, d_v) -> (…, T_q, d_v)
