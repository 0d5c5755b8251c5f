"""causal_attention_weights divides by √T: the scale is √d_k, the size of a key, not the number of tokens."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return torch.softmax(mask_scores(scores) / scores.shape[-1] ** 0.5, dim=-1)  # (…, T, T)
