"""average_loop begins with the second token: the first one is its own average, so begin with index 0."""


def average_loop(x: torch.Tensor) -> torch.Tensor:
    batch, tokens, _ = x.shape
    averages = torch.zeros_like(x)  # (B, T, d)
    for b in range(batch):
        for t in range(1, tokens):
            past = x[b, : t + 1]  # (t + 1, d)
            averages[b, t] = past.mean(dim=0)  # (d,)
    return averages  # (B, T, d)
