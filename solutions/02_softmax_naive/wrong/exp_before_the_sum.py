"""normalize_by_sum takes exp first: that is softmax already; here divide the scores themselves."""


def normalize_by_sum(scores: torch.Tensor) -> torch.Tensor:
    return torch.exp(scores) / torch.exp(scores).sum()
