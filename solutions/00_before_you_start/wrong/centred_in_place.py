"""centred_rows changes its input: x -= … writes into the caller's tensor. Make a new tensor instead."""


def centred_rows(x: torch.Tensor) -> torch.Tensor:
    x -= x.mean(dim=1, keepdim=True)  # (T, d) - (T, 1) -> (T, d)
    return x
