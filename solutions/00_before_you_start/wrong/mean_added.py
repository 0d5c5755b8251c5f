"""less_fixed_mean adds the mean: it is to be taken away."""


def less_fixed_mean(x: torch.Tensor) -> torch.Tensor:
    return x + x.mean().detach()
