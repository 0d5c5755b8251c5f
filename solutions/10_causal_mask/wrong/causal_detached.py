"""causal_attention_weights cuts the path back to the scores: leave detach and no_grad out."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return torch.softmax(mask_scores(scores.detach()) / d_k**0.5, dim=-1)  # (…, T, T)
