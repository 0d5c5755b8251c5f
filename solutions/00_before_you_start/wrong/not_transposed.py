"""all_products multiplies a by b as it is: the rows of b have to become columns first, with b.T."""


def all_products(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a @ b  # an error, or wrong where T_b = d
