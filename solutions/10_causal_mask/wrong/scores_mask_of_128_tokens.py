"""mask_scores cuts its mask from one for 128 tokens: there may be more, so make it for scores.shape[-1]."""


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    tokens = scores.shape[-1]
    mask = causal_mask(128)[:tokens, :tokens].to(scores.device)  # (T, T)
    return scores.masked_fill(~mask, -torch.inf)  # (…, T, T)
