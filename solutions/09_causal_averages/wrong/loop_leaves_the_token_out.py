"""average_loop leaves the token itself out: x[b, :t] ends before row t, a slice does not hold its end."""


def average_loop(x: torch.Tensor) -> torch.Tensor:
    batch, tokens, _ = x.shape
    averages = torch.empty_like(x)  # (B, T, d)
    for b in range(batch):
        for t in range(tokens):
            past = x[b, :t]  # (t + 1, d)
            averages[b, t] = past.mean(dim=0)  # (d,)
    return averages  # (B, T, d)
