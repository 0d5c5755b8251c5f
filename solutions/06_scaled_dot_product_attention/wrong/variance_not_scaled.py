"""Both variances are those of the raw scores: divide by √d_k before the second."""


def score_variances(query: torch.Tensor, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    scaled = scores / keys.shape[-1] ** 0.5  # (…, T_q, T_k)
    return scores.var(), scores.var()  # (), ()
