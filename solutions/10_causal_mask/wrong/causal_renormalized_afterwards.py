"""causal_attention_weights masks after the softmax: where the future has much larger scores nothing is left to rescale, so mask before it."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return mask_then_renormalize(torch.softmax(scores / d_k**0.5, dim=-1))  # (…, T, T)
