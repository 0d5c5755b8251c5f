"""positions is always float32: the dtype is that of x."""


def positions(x: torch.Tensor) -> torch.Tensor:
    return torch.arange(x.shape[0], dtype=torch.float32, device=x.device)  # (T,)
