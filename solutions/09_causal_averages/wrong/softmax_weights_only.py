"""average_softmax returns the weights: multiply them by x to get the averages."""


def average_softmax(x: torch.Tensor) -> torch.Tensor:
    scores = x.new_zeros(x.shape[1], x.shape[1])  # (T, T), dtype and device of x
    future = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)  # (T, T)
    return torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)  # (T, T), rows sum to 1
