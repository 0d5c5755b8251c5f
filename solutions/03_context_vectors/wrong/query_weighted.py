"""context_vector gives the token that asks, unchanged: multiply each token by its own weight, then sum."""


def context_vector(inputs: torch.Tensor, query_index: int) -> torch.Tensor:
    weights = torch.softmax(inputs @ inputs[query_index], dim=-1)
    return (weights[:, None] * inputs[query_index]).sum(dim=0)
