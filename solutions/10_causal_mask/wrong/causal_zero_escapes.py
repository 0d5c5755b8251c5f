"""causal_attention_weights finds the future by scores that are not 0: a hidden score of exactly 0 escapes, so take mask_scores."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    hidden = scores.triu(diagonal=1).bool()  # (…, T, T)
    return torch.softmax(scores.masked_fill(hidden, -torch.inf) / d_k**0.5, dim=-1)  # (…, T, T)
