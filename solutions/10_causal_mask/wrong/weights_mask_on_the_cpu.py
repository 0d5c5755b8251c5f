"""mask_then_renormalize leaves its mask on the CPU: bring it to the device of the weights."""


def mask_then_renormalize(weights: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(weights.shape[-1])  # (T, T)
    kept = weights.masked_fill(~mask, 0.0)  # (…, T, T)
    return kept / kept.sum(dim=-1, keepdim=True)  # (…, T, T) / (…, T, 1) -> (…, T, T)
