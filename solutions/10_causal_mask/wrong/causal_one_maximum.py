"""causal_attention_weights subtracts one largest score for all rows: rows far below it vanish, so take the largest of each row."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    scaled = mask_scores(scores) / d_k**0.5  # (…, T, T)
    powers = torch.exp(scaled - scaled.max())  # (…, T, T)
    return powers / powers.sum(dim=-1, keepdim=True)  # (…, T, T)
