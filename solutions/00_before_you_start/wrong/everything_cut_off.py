"""The whole result of less_fixed_mean is detached: no gradient reaches x. Detach the mean alone."""


def less_fixed_mean(x: torch.Tensor) -> torch.Tensor:
    return (x - x.mean()).detach()
