"""mask_scores leaves its mask on the CPU: bring it to the device of the scores."""


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(scores.shape[-1])  # (T, T)
    return scores.masked_fill(~mask, -torch.inf)  # (…, T, T)
