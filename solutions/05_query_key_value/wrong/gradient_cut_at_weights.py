"""The weights are detached, so no gradient reaches them: multiply by the matrices as they are."""


def project(
    inputs: torch.Tensor, W_query: torch.Tensor, W_key: torch.Tensor, W_value: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    queries = inputs @ W_query.detach()  # (T, d_in) @ (d_in, d_out) -> (T, d_out)
    keys = inputs @ W_key.detach()  # (T, d_out)
    values = inputs @ W_value.detach()  # (T, d_out)
    return queries, keys, values


def project_columns(
    inputs: torch.Tensor, W_Q: torch.Tensor, W_K: torch.Tensor, W_V: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    queries = inputs @ W_Q.detach().T  # (T, d_in) @ (d_in, d_k) -> (T, d_k)
    keys = inputs @ W_K.detach().T  # (T, d_k)
    values = inputs @ W_V.detach().T  # (T, d_v)
    return queries, keys, values
