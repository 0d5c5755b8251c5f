"""causal_attention_weights calls softmax without dim: torch then chooses dim 0 for three dimensions, so give dim=-1."""

from torch.nn import functional


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return functional.softmax(mask_scores(scores) / d_k**0.5)  # (…, T, T)
