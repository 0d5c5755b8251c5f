"""positions counts the columns: the rows lie along dim 0, and x.shape[0] is their number."""


def positions(x: torch.Tensor) -> torch.Tensor:
    return torch.arange(x.shape[1], dtype=x.dtype, device=x.device)  # (d,)
