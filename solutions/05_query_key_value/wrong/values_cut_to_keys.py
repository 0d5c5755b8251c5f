"""The values are cut to the length of the keys: d_v may be another size than d_k."""


def project_columns(
    inputs: torch.Tensor, W_Q: torch.Tensor, W_K: torch.Tensor, W_V: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    queries = inputs @ W_Q.T  # (T, d_in) @ (d_in, d_k) -> (T, d_k)
    keys = inputs @ W_K.T  # (T, d_k)
    values = (inputs @ W_V.T)[:, : W_K.shape[0]]  # (T, d_v)
    return queries, keys, values
