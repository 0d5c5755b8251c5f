"""In score_variances, √d_k is rounded to a whole number: keep the root as it is. int and math.isqrt cut off what follows the point."""


def score_variances(query: torch.Tensor, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    scaled = scores / int(keys.shape[-1] ** 0.5)  # (…, T_q, T_k)
    return scores.var(), scaled.var()  # (), ()
