"""normalize_by_sum takes the smallest score off first: divide the scores as they are."""


def normalize_by_sum(scores: torch.Tensor) -> torch.Tensor:
    return (scores - scores.min()) / (scores - scores.min()).sum()  # (T,)
