"""causal_attention_weights sets the hidden scores to 0: a score of 0 still gets a weight, only -inf gets none."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return torch.softmax(scores.tril() / d_k**0.5, dim=-1)  # (…, T, T)
