"""dot_product uses einsum, a ready-made product: in this one function, multiply and add yourself."""


def dot_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.einsum("i,i->", a, b)
