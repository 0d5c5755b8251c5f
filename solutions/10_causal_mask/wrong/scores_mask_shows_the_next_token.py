"""mask_scores leaves one place past the diagonal open: each token then sees the next one."""


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    mask = torch.ones_like(scores, dtype=torch.bool).tril(diagonal=1)  # (…, T, T)
    return scores.masked_fill(~mask, -torch.inf)  # (…, T, T)
