"""mask_then_renormalize divides by the sums of the columns: each row should sum to 1, so look at dim."""


def mask_then_renormalize(weights: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(weights.shape[-1]).to(weights.device)  # (T, T)
    kept = weights.masked_fill(~mask, 0.0)  # (…, T, T)
    return kept / kept.sum(dim=-2, keepdim=True)  # (…, T, T)
