"""average_loop reads the first sequence for every sequence of the batch: use the row b of the batch."""


def average_loop(x: torch.Tensor) -> torch.Tensor:
    batch, tokens, _ = x.shape
    averages = torch.empty_like(x)  # (B, T, d)
    for b in range(batch):
        for t in range(tokens):
            past = x[0, : t + 1]  # (t + 1, d)
            averages[b, t] = past.mean(dim=0)  # (d,)
    return averages  # (B, T, d)
