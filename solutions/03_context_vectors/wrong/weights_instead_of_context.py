"""context_vector returns the weights: the context vector is the sum of the tokens, so weighted."""


def context_vector(inputs: torch.Tensor, query_index: int) -> torch.Tensor:
    return torch.softmax(inputs @ inputs[query_index], dim=-1)  # (T,)
