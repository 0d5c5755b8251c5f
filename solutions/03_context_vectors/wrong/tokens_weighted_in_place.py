"""context_vector multiplies the tokens in place: that changes the inputs of the caller."""


def context_vector(inputs: torch.Tensor, query_index: int) -> torch.Tensor:
    weights = torch.softmax(inputs @ inputs[query_index], dim=-1)
    context = torch.zeros_like(inputs[0])
    for i, token in enumerate(inputs):
        token *= weights[i]
        context = context + token
    return context
