"""causal_attention_weights masks with a number such as -100: visible scores can be lower still, so mask with -inf."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    hidden = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)  # (…, T, T)
    return torch.softmax(scores.masked_fill(hidden, -100.0) / d_k**0.5, dim=-1)  # (…, T, T)
