"""The two variances come in one tensor: return two scalar tensors, separated by a comma."""


def score_variances(query: torch.Tensor, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    scaled = scores / keys.shape[-1] ** 0.5  # (…, T_q, T_k)
    return torch.stack([scores.var(), scaled.var()])  # (), ()
