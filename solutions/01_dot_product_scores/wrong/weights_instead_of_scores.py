"""attention_scores_for_query applies softmax already: scores are the bare dot products."""


def attention_scores_for_query(inputs: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    return torch.softmax(inputs @ query, dim=0)
