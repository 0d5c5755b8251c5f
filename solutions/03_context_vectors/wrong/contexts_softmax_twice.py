"""context_vectors takes a softmax of the attention weights: they went through one already, and sum to 1."""


def context_vectors(inputs: torch.Tensor) -> torch.Tensor:
    weights = torch.softmax(attention_weights(inputs), dim=-1)  # (T, T)
    return weights @ inputs  # (T, T) @ (T, d) -> (T, d)
