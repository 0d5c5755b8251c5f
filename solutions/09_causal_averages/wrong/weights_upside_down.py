"""averaging_weights is upper triangular: row t then looks at the tokens after t, so take tril instead of triu."""


def averaging_weights(T: int) -> torch.Tensor:
    ones = torch.triu(torch.ones(T, T))  # (T, T)
    return ones / ones.sum(dim=-1, keepdim=True)  # (T, T) / (T, 1) -> (T, T)
