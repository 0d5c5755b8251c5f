"""dot_product gives a matrix, every entry of a times every entry of b: entry i meets entry i alone, and the products are summed."""


def dot_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a[:, None] * b
