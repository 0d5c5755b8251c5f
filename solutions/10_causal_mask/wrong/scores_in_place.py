"""mask_scores writes -inf into the scores it was given: the caller's tensor is another one after the call."""


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(scores.shape[-1]).to(scores.device)  # (T, T)
    return scores.masked_fill_(~mask, -torch.inf)  # (…, T, T)
