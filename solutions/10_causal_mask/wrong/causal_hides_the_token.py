"""causal_attention_weights hides the diagonal too: each token may attend to itself."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    hidden = torch.ones_like(scores, dtype=torch.bool).triu()  # (…, T, T)
    return torch.softmax(scores.masked_fill(hidden, -torch.inf) / d_k**0.5, dim=-1)  # (…, T, T)
