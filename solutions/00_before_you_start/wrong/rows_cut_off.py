"""all_products cuts the gradient of b off: no detach() here."""


def all_products(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a @ b.detach().T  # (T_a, d) @ (d, T_b) -> (T_a, T_b)
