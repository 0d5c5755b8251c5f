"""causal_attention_weights gives the masked and scaled scores: the softmax is missing."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return mask_scores(scores) / d_k**0.5  # (…, T, T)
