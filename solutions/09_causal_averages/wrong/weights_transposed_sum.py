"""averaging_weights divides each column, where each row should be: keepdim=True keeps the sums standing beside their rows."""


def averaging_weights(T: int) -> torch.Tensor:
    ones = torch.tril(torch.ones(T, T))  # (T, T)
    return ones / ones.sum(dim=-1)  # (T, T) / (T,) -> (T, T)
