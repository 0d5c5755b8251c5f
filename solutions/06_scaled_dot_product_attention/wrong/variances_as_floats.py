"""The variances are Python floats: return the scalar tensors themselves, without .item()."""


def score_variances(query: torch.Tensor, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    scaled = scores / keys.shape[-1] ** 0.5  # (…, T_q, T_k)
    return scores.var().item(), scaled.var().item()
