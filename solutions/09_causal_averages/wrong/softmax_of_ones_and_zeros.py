"""average_softmax takes the softmax of ones and zeros without -inf: a score of 0 still gets a weight."""


def average_softmax(x: torch.Tensor) -> torch.Tensor:
    scores = x.new_zeros(x.shape[1], x.shape[1])  # (T, T), dtype and device of x
    future = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)  # (T, T)
    weights = torch.softmax((~future).to(x), dim=-1)  # (T, T)
    return weights @ x  # (T, T) @ (B, T, d) -> (B, T, d)
