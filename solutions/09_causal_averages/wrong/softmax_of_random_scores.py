"""average_softmax begins with random scores: equal weights come from equal scores, such as 0."""


def average_softmax(x: torch.Tensor) -> torch.Tensor:
    scores = torch.rand(x.shape[1], x.shape[1]).to(x)  # (T, T), dtype and device of x
    future = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)  # (T, T)
    weights = torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)  # (T, T), rows sum to 1
    return weights @ x  # (T, T) @ (B, T, d) -> (B, T, d)
