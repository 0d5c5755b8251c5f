"""averaging_weights divides every row by T: row t has t + 1 ones, so its sum is t + 1."""


def averaging_weights(T: int) -> torch.Tensor:
    ones = torch.tril(torch.ones(T, T))  # (T, T)
    return ones / T  # (T, T)
