"""project_heads gives (T, H, d_out): the heads come first."""


def project_heads(inputs: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return (inputs @ weights.mT).transpose(0, 1)  # (T, d) @ (H, d, d_out) -> (H, T, d_out)
