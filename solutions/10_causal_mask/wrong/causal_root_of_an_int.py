"""causal_attention_weights gives torch.sqrt an int, d_k, and it takes tensors alone: write d_k ** 0.5 or math.sqrt(d_k)."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    return torch.softmax(mask_scores(scores) / torch.sqrt(d_k), dim=-1)  # (…, T, T)
