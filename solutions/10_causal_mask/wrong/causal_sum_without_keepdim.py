"""causal_attention_weights loses a dimension in the sum: with keepdim=True each sum stands beside its row."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    scaled = mask_scores(scores) / d_k**0.5
    exponentials = torch.exp(scaled - scaled.amax(dim=-1, keepdim=True))
    return exponentials / exponentials.sum(dim=-1)
