"""causal_attention_weights divides by d_k squared: divide by the square root of d_k."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return torch.softmax(mask_scores(scores) / d_k**2, dim=-1)  # (…, T, T)
