"""dot_product stops after three entries: go through as many as the vectors have."""


def dot_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    total = a[0] * b[0]
    for i in range(1, min(3, len(a))):
        total = total + a[i] * b[i]
    return total
