"""score_variances cuts the gradient, so that none reaches query and keys: look for no_grad, detach or .data."""


def score_variances(query: torch.Tensor, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    with torch.no_grad():
        scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
        scaled = scores / keys.shape[-1] ** 0.5  # (…, T_q, T_k)
        return scores.var(), scaled.var()  # (), ()
