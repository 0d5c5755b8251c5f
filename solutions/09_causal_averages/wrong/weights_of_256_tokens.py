"""averaging_weights is cut from a matrix for 256 tokens: there may be more, so make it for T."""


def averaging_weights(T: int) -> torch.Tensor:
    ones = torch.tril(torch.ones(256, 256))[:T, :T]  # (T, T)
    return ones / ones.sum(dim=-1, keepdim=True)  # (T, T) / (T, 1) -> (T, T)
