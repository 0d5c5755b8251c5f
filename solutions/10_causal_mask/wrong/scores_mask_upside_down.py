"""mask_scores hides the past and shows the future: −inf belongs above the diagonal."""


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(scores.shape[-1]).to(scores.device)  # (T, T)
    return scores.masked_fill(~mask.T, -torch.inf)  # (…, T, T)
