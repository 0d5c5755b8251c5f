"""The variance is the mean of the squares: the mean of the scores is to be taken off first."""


def score_variances(query: torch.Tensor, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    scaled = scores / keys.shape[-1] ** 0.5  # (…, T_q, T_k)
    return (scores**2).mean(), (scaled**2).mean()  # (), ()
