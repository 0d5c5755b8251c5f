"""dot_product gives a tensor of shape (1,): a scalar has the shape (), so look at keepdim."""


def dot_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a * b).sum(dim=0, keepdim=True)  # (1,)
