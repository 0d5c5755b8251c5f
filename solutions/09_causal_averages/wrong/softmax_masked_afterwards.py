"""average_softmax masks after the softmax: the rows no longer sum to 1, so put the mask before it."""


def average_softmax(x: torch.Tensor) -> torch.Tensor:
    scores = x.new_zeros(x.shape[1], x.shape[1])  # (T, T), dtype and device of x
    future = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)  # (T, T)
    weights = torch.softmax(scores, dim=-1).masked_fill(future, 0.0)  # (T, T)
    return weights @ x  # (T, T) @ (B, T, d) -> (B, T, d)
