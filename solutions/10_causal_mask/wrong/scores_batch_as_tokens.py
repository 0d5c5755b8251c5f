"""mask_scores makes the mask for len(scores) tokens: with a batch that is B, so take the last dimension."""


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(len(scores)).to(scores.device)  # (T, T)
    return scores.masked_fill(~mask, -torch.inf)  # (…, T, T)
