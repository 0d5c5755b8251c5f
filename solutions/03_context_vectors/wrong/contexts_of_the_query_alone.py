"""context_vector multiplies the token that asks instead of the others, and context_vectors calls it: each weight belongs to its own token."""


def context_vector(inputs: torch.Tensor, query_index: int) -> torch.Tensor:
    weights = torch.softmax(inputs @ inputs[query_index], dim=-1)  # (T,)
    return weights.sum() * inputs[query_index]  # (d,)


def context_vectors(inputs: torch.Tensor) -> torch.Tensor:
    return torch.stack([context_vector(inputs, token) for token in range(len(inputs))])  # (T, d)
