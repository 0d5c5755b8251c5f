"""context_vector counts the tokens from 1: query_index counts from 0."""


def context_vector(inputs: torch.Tensor, query_index: int) -> torch.Tensor:
    weights = torch.softmax(inputs @ inputs[query_index - 1], dim=-1)
    return weights @ inputs
