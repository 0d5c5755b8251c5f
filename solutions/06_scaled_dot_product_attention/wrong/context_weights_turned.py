"""The weights are transposed before they meet the values: row i of the weights makes the context vector of query i."""


def scaled_dot_product_attention(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return scaled_attention_weights(query, keys).transpose(-2, -1) @ values
