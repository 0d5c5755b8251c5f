"""causal_attention_weights is rounded to four digits: a document shows four, a computation keeps all."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return torch.softmax(mask_scores(scores) / d_k**0.5, dim=-1).round(decimals=4)  # (…, T, T)
