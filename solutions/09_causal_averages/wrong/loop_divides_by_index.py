"""average_loop divides by t: up to row t there are t + 1 rows, since counting begins with 0."""


def average_loop(x: torch.Tensor) -> torch.Tensor:
    batch, tokens, _ = x.shape
    averages = torch.empty_like(x)  # (B, T, d)
    for b in range(batch):
        for t in range(tokens):
            past = x[b, : t + 1]  # (t + 1, d)
            averages[b, t] = past.sum(dim=0) / t  # (d,)
    return averages  # (B, T, d)
