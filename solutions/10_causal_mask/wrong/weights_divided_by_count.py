"""mask_then_renormalize divides by the number of weights that are left: divide by their sum."""


def mask_then_renormalize(weights: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(weights.shape[-1]).to(weights.device)  # (T, T)
    kept = weights.masked_fill(~mask, 0.0)  # (…, T, T)
    return kept / mask.sum(dim=-1, keepdim=True)  # (…, T, T)
