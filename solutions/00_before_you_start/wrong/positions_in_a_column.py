"""positions gives a column of the shape (T, 1): what is wanted is a vector, (T,)."""


def positions(x: torch.Tensor) -> torch.Tensor:
    return torch.arange(x.shape[0], dtype=x.dtype, device=x.device)[:, None]  # (T, 1)
