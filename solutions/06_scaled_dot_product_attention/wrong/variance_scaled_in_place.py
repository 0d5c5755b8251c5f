"""The scores are scaled in place, so that both variances are of the scaled ones: keep the raw scores."""


def score_variances(query: torch.Tensor, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    scaled = scores
    scaled /= keys.shape[-1] ** 0.5
    return scores.var(), scaled.var()  # (), ()
