"""causal_attention_weights forgets the mask, so every token sees the tokens after it: use what mask_scores gives."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return torch.softmax(scores / d_k**0.5, dim=-1)  # (…, T, T)
