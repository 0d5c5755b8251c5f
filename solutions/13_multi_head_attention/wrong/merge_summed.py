"""merge_heads adds the heads up: they stand side by side."""


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    return x.sum(dim=1)  # (B, T, H, h) -> (B, T, H * h)
