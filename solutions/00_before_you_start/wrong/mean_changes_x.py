"""less_fixed_mean changes its input: sub_ with the underscore writes into the caller's tensor."""


def less_fixed_mean(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        mean = x.mean()
        x.sub_(mean)
    return x + 0
