"""mask_scores hides what may be seen: the mask is True where a token may attend, so fill where it is False."""


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(scores.shape[-1]).to(scores.device)  # (T, T)
    return scores.masked_fill(mask, -torch.inf)  # (…, T, T)
