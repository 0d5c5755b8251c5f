"""centred_rows takes one mean of all entries away: each row has a mean of its own, so name the dimension."""


def centred_rows(x: torch.Tensor) -> torch.Tensor:
    return x - x.mean()  # (T, d) - () -> (T, d)
