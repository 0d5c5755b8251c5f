"""A variance is taken of each sequence, and then their mean: take one over all scores at once."""


def score_variances(query: torch.Tensor, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    scaled = scores / keys.shape[-1] ** 0.5  # (…, T_q, T_k)
    return scores.var(dim=(-2, -1)).mean(), scaled.var(dim=(-2, -1)).mean()
