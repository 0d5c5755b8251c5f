"""causal_attention_weights leaves one place past the diagonal open: each token then sees the next one."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    hidden = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=2)  # (…, T, T)
    return torch.softmax(scores.masked_fill(hidden, -torch.inf) / d_k**0.5, dim=-1)  # (…, T, T)
