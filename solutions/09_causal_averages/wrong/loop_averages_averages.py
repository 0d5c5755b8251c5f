"""average_loop takes the mean of the last average and the new token: older tokens then count less and less."""


def average_loop(x: torch.Tensor) -> torch.Tensor:
    batch, tokens, _ = x.shape
    averages = torch.empty_like(x)  # (B, T, d)
    for b in range(batch):
        for t in range(tokens):
            past = x[b, : t + 1]  # (t + 1, d)
            averages[b, t] = past[0] if t == 0 else (averages[b, t - 1] + x[b, t]) / 2  # (d,)
    return averages  # (B, T, d)
