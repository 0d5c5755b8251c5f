"""The second variance is that of the weights: the scaled scores come before the softmax."""


def score_variances(query: torch.Tensor, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    scaled = scores / keys.shape[-1] ** 0.5  # (…, T_q, T_k)
    return scores.var(), torch.softmax(scaled, dim=-1).var()  # (), ()
