"""The variances are divided by n: the unbiased ones divide by n − 1. Look at unbiased or correction."""


def score_variances(query: torch.Tensor, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    scaled = scores / keys.shape[-1] ** 0.5  # (…, T_q, T_k)
    return scores.var(correction=0), scaled.var(correction=0)  # (), ()
