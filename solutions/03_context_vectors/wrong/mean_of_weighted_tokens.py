"""context_vector takes the mean of the weighted tokens: the weights sum to 1 already, so sum."""


def context_vector(inputs: torch.Tensor, query_index: int) -> torch.Tensor:
    weights = torch.softmax(inputs @ inputs[query_index], dim=-1)
    return (weights[:, None] * inputs).mean(dim=0)
