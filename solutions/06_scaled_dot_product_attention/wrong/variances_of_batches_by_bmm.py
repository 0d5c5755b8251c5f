"""In score_variances, torch.bmm takes batches of one dimension alone: use @ or matmul."""


def score_variances(query: torch.Tensor, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scores = torch.bmm(query, keys.transpose(-2, -1))  # (…, T_q, T_k)
    scaled = scores / keys.shape[-1] ** 0.5  # (…, T_q, T_k)
    return scores.var(), scaled.var()  # (), ()
