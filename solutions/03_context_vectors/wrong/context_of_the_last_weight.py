"""context_vector keeps the last weighted token alone: each pass of the loop must add to the sum, as += does."""


def context_vector(inputs: torch.Tensor, query_index: int) -> torch.Tensor:
    weights = torch.softmax(inputs @ inputs[query_index], dim=-1)  # (T,)
    context = torch.zeros_like(inputs[0])  # (d,)
    for weight, token in zip(weights, inputs):
        context = weight * token
    return context
