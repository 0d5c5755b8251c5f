"""average_softmax multiplies by the masked scores themselves: they still lack the softmax."""


def average_softmax(x: torch.Tensor) -> torch.Tensor:
    scores = x.new_zeros(x.shape[1], x.shape[1])  # (T, T), dtype and device of x
    future = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)  # (T, T)
    return scores.masked_fill(future, -torch.inf) @ x
