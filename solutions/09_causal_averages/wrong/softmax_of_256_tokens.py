"""average_softmax cuts its scores from a matrix for 256 tokens: there may be more, so make it for x.shape[1]."""


def average_softmax(x: torch.Tensor) -> torch.Tensor:
    scores = x.new_zeros(256, 256)[: x.shape[1], : x.shape[1]]  # (T, T), dtype and device of x
    future = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)  # (T, T)
    weights = torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)  # (T, T), rows sum to 1
    return weights @ x  # (T, T) @ (B, T, d) -> (B, T, d)
