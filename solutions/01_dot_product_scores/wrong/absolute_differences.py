"""dot_product adds up differences of the entries: multiply them in pairs, and add the products."""


def dot_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a - b).abs().sum()  # (d,) -> ()
