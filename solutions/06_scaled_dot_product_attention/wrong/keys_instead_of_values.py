"""The keys are summed instead of the values: the weights say how much of each value to take."""


def scaled_dot_product_attention(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return scaled_attention_weights(query, keys) @ keys  # (…, T_q, d_k)
