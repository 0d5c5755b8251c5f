"""softmax_stable replaces −inf by a number like −10,000: real scores may be that low themselves."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    x = x.masked_fill(x == float("-inf"), -1e4)
    exponentials = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
