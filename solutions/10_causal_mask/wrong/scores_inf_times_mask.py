"""mask_scores multiplies -inf by a mask: -inf times 0 is NaN, so fill -inf in where the mask says."""


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(scores.shape[-1]).to(scores.device)  # (T, T)
    return scores + -torch.inf * (~mask).to(scores)  # (…, T, T)
