"""project transposes the weights: with shape (d_in, d_out) they fit the rows as they are."""


def project(
    inputs: torch.Tensor, W_query: torch.Tensor, W_key: torch.Tensor, W_value: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    queries = inputs @ W_query.T  # (T, d_in) @ (d_in, d_out) -> (T, d_out)
    keys = inputs @ W_key.T  # (T, d_out)
    values = inputs @ W_value.T  # (T, d_out)
    return queries, keys, values
