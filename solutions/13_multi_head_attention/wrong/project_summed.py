"""project_heads adds the heads’ projections up: each head keeps its own."""


def project_heads(inputs: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return (inputs @ weights.mT).sum(dim=0)  # (T, d) @ (H, d, d_out) -> (H, T, d_out)
