"""averaging_weights reaches one place past the diagonal: tril without diagonal=1 ends on it."""


def averaging_weights(T: int) -> torch.Tensor:
    ones = torch.tril(torch.ones(T, T), diagonal=1)  # (T, T)
    return ones / ones.sum(dim=-1, keepdim=True)  # (T, T) / (T, 1) -> (T, T)
