"""In score_variances, dimensions 1 and 2 of the keys change places, which is right in a batch alone: count from the end."""


def score_variances(query: torch.Tensor, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scores = query @ keys.transpose(1, 2)  # (…, T_q, T_k)
    scaled = scores / keys.shape[-1] ** 0.5  # (…, T_q, T_k)
    return scores.var(), scaled.var()  # (), ()
