"""causal_attention_weights multiplies by √d_k: divide by it."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return torch.softmax(mask_scores(scores) * d_k**0.5, dim=-1)  # (…, T, T)
