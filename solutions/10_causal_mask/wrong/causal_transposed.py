"""causal_attention_weights turns rows into columns before it masks: row i belongs to the token that asks."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return torch.softmax(mask_scores(scores.transpose(-2, -1)) / d_k**0.5, dim=-1)  # (…, T, T)
