"""context_vector returns the weighted tokens one by one: add them up to one vector (d,)."""


def context_vector(inputs: torch.Tensor, query_index: int) -> torch.Tensor:
    weights = torch.softmax(inputs @ inputs[query_index], dim=-1)
    return weights[:, None] * inputs  # (T, d)
