"""dot_product returns inside its loop, after the first product: the return belongs behind the loop."""


def dot_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    total = a.new_zeros(())
    for x, y in zip(a, b):
        total = total + x * y
        return total
    return total
