"""all_products multiplies columns with columns: what is wanted is rows of a with rows of b, so b is turned and not a."""


def all_products(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a.T @ b  # (d, T_a) @ (T_b, d)
