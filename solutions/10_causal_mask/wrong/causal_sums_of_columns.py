"""causal_attention_weights divides by the sums of the columns: each row should sum to 1, so look at dim."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    scaled = mask_scores(scores) / d_k**0.5
    exponentials = torch.exp(scaled - scaled.amax(dim=-1, keepdim=True))
    return exponentials / exponentials.sum(dim=-2, keepdim=True)
