"""mask_then_renormalize cuts the gradient of the sum: it depends on the weights as well, so leave detach out."""


def mask_then_renormalize(weights: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(weights.shape[-1]).to(weights.device)  # (T, T)
    kept = weights.masked_fill(~mask, 0.0)  # (…, T, T)
    return kept / kept.sum(dim=-1, keepdim=True).detach()  # (…, T, T)
