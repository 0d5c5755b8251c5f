"""Rows and columns of all_products are exchanged: the rows of the result belong to a."""


def all_products(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return b @ a.T  # (T_b, d) @ (d, T_a) -> (T_b, T_a)
