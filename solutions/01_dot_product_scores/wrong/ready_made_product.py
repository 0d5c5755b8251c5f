"""dot_product uses @, a ready-made product: in this one function, multiply and add yourself."""


def dot_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a @ b
