"""causal_attention_weights divides by √d_k after the softmax: the rows no longer sum to 1, so scale the scores before it."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return torch.softmax(mask_scores(scores), dim=-1) / d_k**0.5  # (…, T, T)
