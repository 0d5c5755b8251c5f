"""project_columns does not transpose the weights, which hold d_out first."""


def project_columns(
    inputs: torch.Tensor, W_Q: torch.Tensor, W_K: torch.Tensor, W_V: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    queries = inputs @ W_Q  # (T, d_in) @ (d_in, d_k) -> (T, d_k)
    keys = inputs @ W_K  # (T, d_k)
    values = inputs @ W_V  # (T, d_v)
    return queries, keys, values
