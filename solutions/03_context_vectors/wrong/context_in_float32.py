"""context_vector adds up in torch.zeros(d): that is float32 on the CPU, whatever inputs is."""


def context_vector(inputs: torch.Tensor, query_index: int) -> torch.Tensor:
    weights = torch.softmax(inputs @ inputs[query_index], dim=-1)
    context = torch.zeros(inputs.shape[1])
    for i, token in enumerate(inputs):
        context += weights[i] * token
    return context
