"""causal_mask is True where a token must not look: True stands for what is allowed."""


def causal_mask(T: int) -> torch.Tensor:
    return torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)  # (T, T)


def mask_then_renormalize(weights: torch.Tensor) -> torch.Tensor:
    mask = torch.ones_like(weights, dtype=torch.bool).tril()  # (…, T, T)
    kept = weights.masked_fill(~mask, 0.0)  # (…, T, T)
    return kept / kept.sum(dim=-1, keepdim=True)  # (…, T, T) / (…, T, 1) -> (…, T, T)


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    mask = torch.ones_like(scores, dtype=torch.bool).tril()  # (…, T, T)
    return scores.masked_fill(~mask, -torch.inf)  # (…, T, T)
