"""averaging_weights comes back as float64: make it in the default dtype of torch."""


def averaging_weights(T: int) -> torch.Tensor:
    ones = torch.tril(torch.ones(T, T, dtype=torch.float64))  # (T, T)
    return ones / ones.sum(dim=-1, keepdim=True)  # (T, T) / (T, 1) -> (T, T)
