"""dot_product writes the products into a: that changes the input of whoever called it."""


def dot_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    a *= b
    return a.sum()
