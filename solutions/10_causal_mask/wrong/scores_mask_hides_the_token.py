"""mask_scores hides the diagonal too: each token may attend to itself."""


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(scores.shape[-1]).tril(diagonal=-1).to(scores.device)  # (T, T)
    return scores.masked_fill(~mask, -torch.inf)  # (…, T, T)
