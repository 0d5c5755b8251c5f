"""averaging_weights divides by the sum of the whole matrix: each row has a sum of its own."""


def averaging_weights(T: int) -> torch.Tensor:
    ones = torch.tril(torch.ones(T, T))  # (T, T)
    return ones / ones.sum()
