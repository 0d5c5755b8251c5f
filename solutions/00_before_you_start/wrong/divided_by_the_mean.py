"""centred_rows divides each row by its mean: take the mean away from it."""


def centred_rows(x: torch.Tensor) -> torch.Tensor:
    return x / x.mean(dim=1, keepdim=True)
