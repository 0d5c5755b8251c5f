"""dot_product keeps the last product alone: each pass of the loop must add to the total, as += does."""


def dot_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    total = a.new_zeros(())
    for x, y in zip(a, b):
        total = x * y
    return total
