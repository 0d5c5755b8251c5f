"""causal_attention_weights puts -inf into the weights, after the softmax: -inf hides a score, before it."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return mask_scores(torch.softmax(scores / d_k**0.5, dim=-1))  # (…, T, T)
