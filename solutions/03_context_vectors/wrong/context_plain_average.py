"""context_vector gives the plain average of all tokens: weigh them with the query’s attention weights."""


def context_vector(inputs: torch.Tensor, query_index: int) -> torch.Tensor:
    weights = torch.softmax(inputs @ inputs[query_index], dim=-1)  # (T,)
    return inputs.mean(dim=0) + 0 * weights.sum()  # (d,)
