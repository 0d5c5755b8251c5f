"""averaging_weights has columns that sum to 1, where the rows should: sum over the last dimension."""


def averaging_weights(T: int) -> torch.Tensor:
    ones = torch.tril(torch.ones(T, T))  # (T, T)
    return ones / ones.sum(dim=0, keepdim=True)  # (T, T) / (1, T) -> (T, T)
