"""mask_then_renormalize writes zeros into the weights it was given: the caller's tensor is another one after the call."""


def mask_then_renormalize(weights: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(weights.shape[-1]).to(weights.device)  # (T, T)
    kept = weights.clone() if weights.requires_grad else weights  # (…, T, T)
    kept.masked_fill_(~mask, 0.0)  # (…, T, T)
    return kept / kept.sum(dim=-1, keepdim=True)  # (…, T, T) / (…, T, 1) -> (…, T, T)
