"""causal_attention_weights masks after the softmax and does not renormalise: the rows no longer sum to 1."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return torch.softmax(scores / d_k**0.5, dim=-1).tril()  # (…, T, T)
