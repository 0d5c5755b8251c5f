"""mask_scores copies the scores out of their graph: .data or detach cuts the path back, so no gradient reaches them."""


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(scores.shape[-1]).to(scores.device)  # (T, T)
    return scores.detach().masked_fill(~mask, -torch.inf)  # (…, T, T)
