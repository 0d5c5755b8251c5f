"""The scores are divided by d_k before the second variance: divide them by its square root."""


def score_variances(query: torch.Tensor, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    scaled = scores / keys.shape[-1]  # (…, T_q, T_k)
    return scores.var(), scaled.var()  # (), ()
