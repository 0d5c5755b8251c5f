"""The projection draws weights of its own: use the matrices that are given."""


def project(
    inputs: torch.Tensor, W_query: torch.Tensor, W_key: torch.Tensor, W_value: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    W_query, W_key, W_value = init_weights(inputs.shape[1], W_query.shape[1])
    queries = inputs @ W_query  # (T, d_in) @ (d_in, d_out) -> (T, d_out)
    keys = inputs @ W_key  # (T, d_out)
    values = inputs @ W_value  # (T, d_out)
    return queries, keys, values
