"""mask_then_renormalize multiplies by a float32 mask: a half type then comes back as float32, so give the mask the dtype of the weights."""


def mask_then_renormalize(weights: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(weights.shape[-1]).to(weights.device)  # (T, T)
    kept = weights * mask.float()  # (…, T, T)
    return kept / kept.sum(dim=-1, keepdim=True)  # (…, T, T) / (…, T, 1) -> (…, T, T)
