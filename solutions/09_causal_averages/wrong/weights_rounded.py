"""averaging_weights is rounded to four digits: a document shows four, a computation keeps all."""


def averaging_weights(T: int) -> torch.Tensor:
    ones = torch.tril(torch.ones(T, T))  # (T, T)
    return (ones / ones.sum(dim=-1, keepdim=True)).round(decimals=4)  # (T, T)
