"""The results are brought to their shape by reshape instead of a transpose: the tokens get mixed."""


def project_columns(
    inputs: torch.Tensor, W_Q: torch.Tensor, W_K: torch.Tensor, W_V: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    queries = (W_Q @ inputs.T).reshape(inputs.shape[0], -1)  # (T, d_k)
    keys = (W_K @ inputs.T).reshape(inputs.shape[0], -1)  # (T, d_k)
    values = (W_V @ inputs.T).reshape(inputs.shape[0], -1)  # (T, d_v)
    return queries, keys, values
