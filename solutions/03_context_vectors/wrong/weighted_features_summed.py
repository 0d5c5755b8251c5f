"""context_vector adds up the numbers of each token: add the weighted tokens up, along dim 0."""


def context_vector(inputs: torch.Tensor, query_index: int) -> torch.Tensor:
    weights = torch.softmax(inputs @ inputs[query_index], dim=-1)  # (T,)
    return (weights[:, None] * inputs).sum(dim=1)
