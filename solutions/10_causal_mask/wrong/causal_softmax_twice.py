"""causal_attention_weights takes the softmax twice: the second one gives the future a weight."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return torch.softmax(torch.softmax(mask_scores(scores) / d_k**0.5, dim=-1), dim=-1)  # (…, T, T)
