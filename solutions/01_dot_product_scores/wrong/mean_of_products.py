"""dot_product takes the mean of the products: a dot product is their sum."""


def dot_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a * b).mean()
