"""context_vector returns inside its loop, after the first token: the return belongs behind the loop."""


def context_vector(inputs: torch.Tensor, query_index: int) -> torch.Tensor:
    weights = torch.softmax(inputs @ inputs[query_index], dim=-1)  # (T,)
    context = torch.zeros_like(inputs[0])  # (d,)
    for weight, token in zip(weights, inputs):
        context = context + weight * token
        return context
    return context
