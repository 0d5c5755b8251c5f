"""average_loop gathers its results in a float32 tensor: make it with the dtype and the device of x."""


def average_loop(x: torch.Tensor) -> torch.Tensor:
    batch, tokens, _ = x.shape
    averages = torch.zeros(x.shape)  # (B, T, d)
    for b in range(batch):
        for t in range(tokens):
            past = x[b, : t + 1]  # (t + 1, d)
            averages[b, t] = past.mean(dim=0)  # (d,)
    return averages  # (B, T, d)
