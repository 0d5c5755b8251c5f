"""mask_then_renormalize loses the last dimension of the sums: with keepdim=True they stand beside their rows."""


def mask_then_renormalize(weights: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(weights.shape[-1]).to(weights.device)  # (T, T)
    kept = weights.masked_fill(~mask, 0.0)  # (…, T, T)
    return kept / kept.sum(dim=-1)  # (…, T, T)
