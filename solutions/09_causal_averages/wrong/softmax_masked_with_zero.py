"""average_softmax masks with 0, or does not keep what masked_fill gives (without _ it is a new tensor): a score of 0 counts as much as the others, so mask with -inf."""


def average_softmax(x: torch.Tensor) -> torch.Tensor:
    scores = x.new_zeros(x.shape[1], x.shape[1])  # (T, T), dtype and device of x
    future = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)  # (T, T)
    weights = torch.softmax(scores.masked_fill(future, 0.0), dim=-1)  # (T, T)
    return weights @ x  # (T, T) @ (B, T, d) -> (B, T, d)
