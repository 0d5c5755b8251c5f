"""causal_attention_weights rounds √d_k to a whole number: keep the root as it is, int cuts off what follows the point."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return torch.softmax(mask_scores(scores) / int(d_k**0.5), dim=-1)  # (…, T, T)
