"""mask_scores does not keep what masked_fill gives: masked_fill without _ gives a new tensor, so keep it."""


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(scores.shape[-1]).to(scores.device)  # (T, T)
    scores.masked_fill(~mask, -torch.inf)
    return scores  # (…, T, T)
