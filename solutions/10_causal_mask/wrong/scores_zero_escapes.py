"""mask_scores finds the future by scores that are not 0: a hidden score of exactly 0 escapes, so make the mask from T alone."""


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    mask = ~scores.triu(diagonal=1).bool()  # (…, T, T)
    return scores.masked_fill(~mask, -torch.inf)  # (…, T, T)
