"""positions begins at 1: the first row has the number 0."""


def positions(x: torch.Tensor) -> torch.Tensor:
    return torch.arange(1, x.shape[0] + 1, dtype=x.dtype, device=x.device)  # (T,)
