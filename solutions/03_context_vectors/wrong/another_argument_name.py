"""context_vector calls its argument i. The lesson calls it query_index: callers may use the name."""


def context_vector(inputs: torch.Tensor, i: int) -> torch.Tensor:
    query_index = i
    weights = torch.softmax(inputs @ inputs[query_index], dim=-1)  # (T,)
    return weights @ inputs  # (d,)
