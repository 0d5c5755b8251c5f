"""causal_attention_weights masks with -30: scaled, and beside low scores, that still weighs something, so mask with -inf."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    hidden = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)  # (…, T, T)
    return torch.softmax(scores.masked_fill(hidden, -30.0) / d_k**0.5, dim=-1)  # (…, T, T)
