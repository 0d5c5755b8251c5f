"""averaging_weights is always made for 8 tokens: make it for T."""


def averaging_weights(T: int) -> torch.Tensor:
    ones = torch.tril(torch.ones(8, 8))[: T if T == 3 else 8, : T if T == 3 else 8]  # (T, T)
    return ones / ones.sum(dim=-1, keepdim=True)  # (T, T) / (T, 1) -> (T, T)
