"""The queries are computed with the weights of the keys: they have a matrix of their own."""


def project(
    inputs: torch.Tensor, W_query: torch.Tensor, W_key: torch.Tensor, W_value: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    queries = inputs @ W_key  # (T, d_in) @ (d_in, d_out) -> (T, d_out)
    keys = inputs @ W_key  # (T, d_out)
    values = inputs @ W_value  # (T, d_out)
    return queries, keys, values


def project_columns(
    inputs: torch.Tensor, W_Q: torch.Tensor, W_K: torch.Tensor, W_V: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    queries = inputs @ W_K.T  # (T, d_in) @ (d_in, d_k) -> (T, d_k)
    keys = inputs @ W_K.T  # (T, d_k)
    values = inputs @ W_V.T  # (T, d_v)
    return queries, keys, values
