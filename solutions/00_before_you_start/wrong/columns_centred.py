"""centred_rows takes the mean of each column away: dim 0 goes down the rows, and dim 1 along each of them."""


def centred_rows(x: torch.Tensor) -> torch.Tensor:
    return x - x.mean(dim=0, keepdim=True)  # (T, d) - (1, d) -> (T, d)
