"""causal_attention_weights masks every score of 0: a visible score of 0 is hidden as well, so take mask_scores."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    kept = scores.tril()  # (…, T, T)
    return torch.softmax(kept.masked_fill(kept == 0, -torch.inf) / d_k**0.5, dim=-1)  # (…, T, T)
