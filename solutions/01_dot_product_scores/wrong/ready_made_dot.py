"""dot_product calls a ready-made dot product: in this one function, multiply and add yourself."""


def dot_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.dot(a, b)
