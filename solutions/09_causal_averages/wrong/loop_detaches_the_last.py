"""average_loop detaches the last average before it goes on from it: the gradient of older tokens is lost."""


def average_loop(x: torch.Tensor) -> torch.Tensor:
    batch, tokens, _ = x.shape
    averages = torch.empty_like(x)  # (B, T, d)
    for b in range(batch):
        for t in range(tokens):
            past = x[b, : t + 1]  # (t + 1, d)
            averages[b, t] = x[b, t] / (t + 1) + (averages[b, t - 1].detach() * t / (t + 1) if t else 0)  # (d,)
    return averages  # (B, T, d)
