"""attention_weights rounds to the four digits that print shows: keep all of them."""


def attention_weights(inputs: torch.Tensor) -> torch.Tensor:
    return torch.round(torch.softmax(inputs @ inputs.T, dim=-1), decimals=4)


def context_vectors(inputs: torch.Tensor) -> torch.Tensor:
    return torch.softmax(inputs @ inputs.T, dim=-1) @ inputs
