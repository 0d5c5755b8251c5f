"""causal_attention_weights divides by the fourth root of d_k: the root is taken twice, and once is enough."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return torch.softmax(mask_scores(scores) / d_k**0.25, dim=-1)  # (…, T, T)
