"""project_heads gives one column for each token, (H, d_out, T): a token belongs in a row."""


def project_heads(inputs: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return weights @ inputs.T  # (H, d_out, T)
