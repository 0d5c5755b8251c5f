"""average_loop goes along the features: the tokens stand in dimension 1 of x, the features in dimension 2."""


def average_loop(x: torch.Tensor) -> torch.Tensor:
    batch, _, tokens = x.shape
    averages = torch.empty_like(x)  # (B, T, d)
    for b in range(batch):
        for t in range(tokens):
            past = x[b, :, : t + 1]  # (T, t + 1)
            averages[b, :, t] = past.mean(dim=1)  # (d,)
    return averages  # (B, T, d)
