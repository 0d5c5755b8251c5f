"""mask_then_renormalize does not keep what masked_fill gives: masked_fill without _ gives a new tensor, so keep it."""


def mask_then_renormalize(weights: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(weights.shape[-1]).to(weights.device)  # (T, T)
    weights.masked_fill(~mask, 0.0)
    kept = weights  # (…, T, T)
    return kept / kept.sum(dim=-1, keepdim=True)  # (…, T, T) / (…, T, 1) -> (…, T, T)
