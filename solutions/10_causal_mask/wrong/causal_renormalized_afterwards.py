"""causal_attention_weights looks at the future before it masks, in the softmax or in a maximum: where its scores are much larger, all that is visible becomes 0, so mask first."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return mask_then_renormalize(torch.softmax(scores / d_k**0.5, dim=-1))  # (…, T, T)
