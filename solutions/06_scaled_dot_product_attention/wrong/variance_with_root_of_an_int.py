"""In score_variances, torch.sqrt is given an int, d_k, and takes tensors alone: write d_k ** 0.5 or math.sqrt(d_k)."""


def score_variances(query: torch.Tensor, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    scaled = scores / torch.sqrt(keys.shape[-1])
    return scores.var(), scaled.var()  # (), ()
