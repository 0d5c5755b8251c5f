"""causal_attention_weights divides by d_k and multiplies by 0.5: * multiplies, ** 0.5 takes the square root."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return torch.softmax(mask_scores(scores) / d_k * 0.5, dim=-1)  # (…, T, T)
