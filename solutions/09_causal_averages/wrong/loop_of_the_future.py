"""average_loop averages the token and all tokens after it: the past is wanted, the rows up to t."""


def average_loop(x: torch.Tensor) -> torch.Tensor:
    batch, tokens, _ = x.shape
    averages = torch.empty_like(x)  # (B, T, d)
    for b in range(batch):
        for t in range(tokens):
            past = x[b, t:]  # (t + 1, d)
            averages[b, t] = past.mean(dim=0)  # (d,)
    return averages  # (B, T, d)
