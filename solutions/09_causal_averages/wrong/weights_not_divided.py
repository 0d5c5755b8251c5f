"""averaging_weights gives ones below the diagonal: its rows do not sum to 1 yet, so divide each by its sum."""


def averaging_weights(T: int) -> torch.Tensor:
    ones = torch.tril(torch.ones(T, T))  # (T, T)
    return ones  # (T, T)
