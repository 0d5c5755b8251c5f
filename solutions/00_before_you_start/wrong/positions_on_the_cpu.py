"""positions makes its tensor on the CPU, wherever x is: pass device=x.device."""


def positions(x: torch.Tensor) -> torch.Tensor:
    return torch.arange(x.shape[0], dtype=x.dtype)  # (T,)
