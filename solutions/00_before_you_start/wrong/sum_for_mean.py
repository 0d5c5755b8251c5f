"""centred_rows takes the sum of each row away, not its mean."""


def centred_rows(x: torch.Tensor) -> torch.Tensor:
    return x - x.sum(dim=1, keepdim=True)  # (T, d) - (T, 1) -> (T, d)
