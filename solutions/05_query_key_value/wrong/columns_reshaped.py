"""The weights are reshaped instead of transposed: the shape is right, but the numbers stand in wrong places."""


def project_columns(
    inputs: torch.Tensor, W_Q: torch.Tensor, W_K: torch.Tensor, W_V: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    queries = inputs @ W_Q.reshape(W_Q.shape[1], -1)  # (T, d_in) @ (d_in, d_k) -> (T, d_k)
    keys = inputs @ W_K.reshape(W_K.shape[1], -1)  # (T, d_k)
    values = inputs @ W_V.reshape(W_V.shape[1], -1)  # (T, d_v)
    return queries, keys, values
