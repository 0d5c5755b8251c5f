"""project_heads multiplies with the weights as they lie: they are (H, d_out, d), so swap their last two dimensions."""


def project_heads(inputs: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return inputs @ weights  # (T, d) @ (H, d, d_out)
