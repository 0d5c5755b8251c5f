"""The weights are transposed in place by t_(): the caller’s matrices are other ones afterwards."""


def project_columns(
    inputs: torch.Tensor, W_Q: torch.Tensor, W_K: torch.Tensor, W_V: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    queries = inputs @ W_Q.t_()  # (T, d_in) @ (d_in, d_k) -> (T, d_k)
    keys = inputs @ W_K.t_()  # (T, d_k)
    values = inputs @ W_V.t_()  # (T, d_v)
    return queries, keys, values
