"""mask_scores fills with +inf: the future is hidden by −inf."""


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(scores.shape[-1]).to(scores.device)  # (T, T)
    return scores.masked_fill(~mask, torch.inf)  # (…, T, T)
