"""less_fixed_mean cuts off x and lets the gradient flow through the mean: it is the other way round."""


def less_fixed_mean(x: torch.Tensor) -> torch.Tensor:
    return x.detach() - x.mean()
