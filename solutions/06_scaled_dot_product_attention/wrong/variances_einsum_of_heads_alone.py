"""In score_variances, the letters of einsum are those of batches and heads alone: write “...qd,...kd->...qk”, or @, for any leading dimensions."""


def score_variances(query: torch.Tensor, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scores = torch.einsum("bhqd,bhkd->bhqk", query, keys)  # (…, T_q, T_k)
    scaled = scores / keys.shape[-1] ** 0.5  # (…, T_q, T_k)
    return scores.var(), scaled.var()  # (), ()
