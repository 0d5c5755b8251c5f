"""dot_product divides by the lengths of the vectors: that is the cosine, not the dot product."""


def dot_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a * b).sum() / (a.norm() * b.norm())
