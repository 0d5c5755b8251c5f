"""dot_product sums before it multiplies: multiply entry by entry first, then sum."""


def dot_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a.sum() * b.sum()
