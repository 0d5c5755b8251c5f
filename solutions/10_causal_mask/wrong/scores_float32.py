"""mask_scores adds a float32 mask: a half type then comes back as float32, so give the mask the dtype of the scores."""


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(scores.shape[-1]).to(scores.device)  # (T, T)
    hidden = torch.full(mask.shape, -torch.inf, device=scores.device).triu(diagonal=1)  # (T, T)
    return scores + hidden  # (…, T, T)
