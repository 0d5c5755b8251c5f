"""average_loop divides by the number of all tokens: token t has only t + 1 rows behind it."""


def average_loop(x: torch.Tensor) -> torch.Tensor:
    batch, tokens, _ = x.shape
    averages = torch.empty_like(x)  # (B, T, d)
    for b in range(batch):
        for t in range(tokens):
            past = x[b, : t + 1]  # (t + 1, d)
            averages[b, t] = past.sum(dim=0) / tokens  # (d,)
    return averages  # (B, T, d)
