"""The results still hold the tokens as columns: transpose them back, so that row i belongs to token i."""


def project_columns(
    inputs: torch.Tensor, W_Q: torch.Tensor, W_K: torch.Tensor, W_V: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    queries = W_Q @ inputs.T  # (d_k, T)
    keys = W_K @ inputs.T  # (d_k, T)
    values = W_V @ inputs.T  # (d_v, T)
    return queries, keys, values
