"""averaging_weights calls tril and does not keep its result: torch.tril gives a new tensor."""


def averaging_weights(T: int) -> torch.Tensor:
    ones = torch.ones(T, T)
    torch.tril(ones)  # (T, T)
    return ones / ones.sum(dim=-1, keepdim=True)  # (T, T) / (T, 1) -> (T, T)
