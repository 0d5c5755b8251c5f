"""average_loop writes the averages into x itself: the caller's tensor is another one after the call."""


def average_loop(x: torch.Tensor) -> torch.Tensor:
    batch, tokens, _ = x.shape
    averages = x.detach() if not x.requires_grad else x.clone()  # (B, T, d)
    for b in range(batch):
        for t in reversed(range(tokens)):
            past = x[b, : t + 1]  # (t + 1, d)
            averages[b, t] = past.mean(dim=0)  # (d,)
    return averages  # (B, T, d)
