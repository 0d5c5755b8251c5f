"""average_softmax takes the softmax down the columns: each row of the weights should sum to 1, so look at dim."""


def average_softmax(x: torch.Tensor) -> torch.Tensor:
    scores = x.new_zeros(x.shape[1], x.shape[1])  # (T, T), dtype and device of x
    future = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)  # (T, T)
    weights = torch.softmax(scores.masked_fill(future, -torch.inf), dim=0)  # (T, T)
    return weights @ x  # (T, T) @ (B, T, d) -> (B, T, d)
