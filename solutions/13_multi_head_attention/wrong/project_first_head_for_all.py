"""project_heads uses the first head’s weights for every head: each head has its own."""


def project_heads(inputs: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return (inputs @ weights[:1].mT).expand(len(weights), -1, -1)  # (T, d) @ (H, d, d_out) -> (H, T, d_out)
