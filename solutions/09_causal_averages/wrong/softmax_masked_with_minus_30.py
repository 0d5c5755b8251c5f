"""average_softmax masks with -30: a tiny weight is left on the future, and huge values shine through, so mask with -inf."""


def average_softmax(x: torch.Tensor) -> torch.Tensor:
    scores = x.new_zeros(x.shape[1], x.shape[1])  # (T, T), dtype and device of x
    future = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)  # (T, T)
    weights = torch.softmax(scores.masked_fill(future, -30.0), dim=-1)  # (T, T)
    return weights @ x  # (T, T) @ (B, T, d) -> (B, T, d)
