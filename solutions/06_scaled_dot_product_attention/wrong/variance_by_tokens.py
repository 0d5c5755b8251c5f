"""The second variance is of scores over the root of the number of queries: d_k is the last dimension."""


def score_variances(query: torch.Tensor, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    scaled = scores / query.shape[-2] ** 0.5  # (…, T_q, T_k)
    return scores.var(), scaled.var()  # (), ()
