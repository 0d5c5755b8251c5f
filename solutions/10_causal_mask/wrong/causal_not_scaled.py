"""causal_attention_weights leaves the scaling out: divide the scores by √d_k."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return torch.softmax(mask_scores(scores), dim=-1)  # (…, T, T)
