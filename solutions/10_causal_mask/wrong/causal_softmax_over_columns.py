"""causal_attention_weights takes the softmax down the columns: each row should sum to 1, so look at dim."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return torch.softmax(mask_scores(scores) / d_k**0.5, dim=-2)  # (…, T, T)
