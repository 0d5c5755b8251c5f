"""mask_then_renormalize takes a softmax of the masked weights, where 0 becomes exp(0) = 1: divide each row by its sum."""


def mask_then_renormalize(weights: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(weights.shape[-1]).to(weights.device)  # (T, T)
    kept = weights.masked_fill(~mask, 0.0)  # (…, T, T)
    return torch.softmax(kept, dim=-1)  # (…, T, T)
