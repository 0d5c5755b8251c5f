"""mask_then_renormalize adds a small number to the sums: its rows no longer sum to 1, and no sum is 0 here."""


def mask_then_renormalize(weights: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(weights.shape[-1]).to(weights.device)  # (T, T)
    kept = weights.masked_fill(~mask, 0.0)  # (…, T, T)
    return kept / (kept.sum(dim=-1, keepdim=True) + 1e-6)  # (…, T, T)
