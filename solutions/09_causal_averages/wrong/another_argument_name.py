"""averaging_weights calls its argument num_tokens. The lesson calls it T: callers may use the name."""


def averaging_weights(num_tokens: int) -> torch.Tensor:
    T = num_tokens
    ones = torch.tril(torch.ones(T, T))  # (T, T)
    return ones / ones.sum(dim=-1, keepdim=True)  # (T, T) / (T, 1) -> (T, T)
