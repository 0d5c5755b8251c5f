"""mask_scores fills in a large negative number: the hidden scores should be -inf."""


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(scores.shape[-1]).to(scores.device)  # (T, T)
    return scores.masked_fill(~mask, -1e9)  # (…, T, T)
