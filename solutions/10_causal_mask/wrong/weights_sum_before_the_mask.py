"""mask_then_renormalize divides by the sums from before the mask, which are 1: take the sums of what is left."""


def mask_then_renormalize(weights: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(weights.shape[-1]).to(weights.device)  # (T, T)
    kept = weights.masked_fill(~mask, 0.0)  # (…, T, T)
    return kept / weights.sum(dim=-1, keepdim=True)  # (…, T, T)
