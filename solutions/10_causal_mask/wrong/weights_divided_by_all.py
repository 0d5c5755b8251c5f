"""mask_then_renormalize divides by the sum of all weights that are left: each row has a sum of its own."""


def mask_then_renormalize(weights: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(weights.shape[-1]).to(weights.device)  # (T, T)
    kept = weights.masked_fill(~mask, 0.0)  # (…, T, T)
    return kept / kept.sum()  # (…, T, T)
