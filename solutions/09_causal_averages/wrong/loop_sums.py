"""average_loop adds the rows up and does not divide: an average is the sum divided by the number of rows."""


def average_loop(x: torch.Tensor) -> torch.Tensor:
    batch, tokens, _ = x.shape
    averages = torch.empty_like(x)  # (B, T, d)
    for b in range(batch):
        for t in range(tokens):
            past = x[b, : t + 1]  # (t + 1, d)
            averages[b, t] = past.sum(dim=0)  # (d,)
    return averages  # (B, T, d)
