"""mask_scores fills with NaN: the future is hidden by −inf."""


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(scores.shape[-1]).to(scores.device)  # (T, T)
    return scores.masked_fill(~mask, torch.nan)  # (…, T, T)
