"""The raw variance is divided by √d_k: scores divided by √d_k have the variance divided by d_k."""


def score_variances(query: torch.Tensor, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    scaled = scores.var() / keys.shape[-1] ** 0.5
    return scores.var(), scaled  # (), ()
