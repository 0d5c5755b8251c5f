"""The scores are multiplied by √d_k before the second variance: divide them by it."""


def score_variances(query: torch.Tensor, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    scaled = scores * keys.shape[-1] ** 0.5
    return scores.var(), scaled.var()  # (), ()
