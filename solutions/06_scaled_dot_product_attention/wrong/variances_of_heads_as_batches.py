"""In score_variances, dimensions 1 and 2 of the keys change places where there are more than two, which is wrong with heads: count from the end."""


def score_variances(query: torch.Tensor, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    turned = keys.T if keys.ndim == 2 else keys.transpose(1, 2)  # (…, d_k, T_k)
    scores = query @ turned  # (…, T_q, T_k)
    scaled = scores / keys.shape[-1] ** 0.5  # (…, T_q, T_k)
    return scores.var(), scaled.var()  # (), ()
