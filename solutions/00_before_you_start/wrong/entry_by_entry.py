"""all_products multiplies entry by entry, which is what * does: the matrix product is @."""


def all_products(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a * b  # an error, or wrong where the shapes fit
