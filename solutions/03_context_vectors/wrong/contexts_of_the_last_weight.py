"""context_vector keeps the last weighted token alone, and context_vectors calls it: each pass of the loop must add to the sum, as += does."""


def context_vector(inputs: torch.Tensor, query_index: int) -> torch.Tensor:
    weights = torch.softmax(inputs @ inputs[query_index], dim=-1)  # (T,)
    return weights[-1] * inputs[-1]  # (d,)


def context_vectors(inputs: torch.Tensor) -> torch.Tensor:
    return torch.stack([context_vector(inputs, token) for token in range(len(inputs))])  # (T, d)
