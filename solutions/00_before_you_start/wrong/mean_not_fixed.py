"""The gradient flows through the mean in less_fixed_mean: detach() the mean, so that it counts as a fixed number."""


def less_fixed_mean(x: torch.Tensor) -> torch.Tensor:
    return x - x.mean()
