"""positions gives int64, as torch.arange does by itself: pass dtype=x.dtype."""


def positions(x: torch.Tensor) -> torch.Tensor:
    return torch.arange(x.shape[0], device=x.device)  # (T,)
