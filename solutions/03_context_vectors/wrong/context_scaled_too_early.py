"""context_vector divides its scores by √d: scaling comes later, here the scores are bare."""


def context_vector(inputs: torch.Tensor, query_index: int) -> torch.Tensor:
    weights = torch.softmax(inputs @ inputs[query_index] / inputs.shape[-1] ** 0.5, dim=-1)  # (T,)
    return weights @ inputs  # (d,)
