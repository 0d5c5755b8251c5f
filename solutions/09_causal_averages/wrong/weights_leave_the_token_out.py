"""averaging_weights ends below the diagonal: each token counts in its own average, and row 0 would be empty."""


def averaging_weights(T: int) -> torch.Tensor:
    ones = torch.tril(torch.ones(T, T), diagonal=-1)  # (T, T)
    return ones / ones.sum(dim=-1, keepdim=True)  # (T, T) / (T, 1) -> (T, T)
