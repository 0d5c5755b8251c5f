"""context_vectors applies the weights twice: one weighted sum is enough."""


def context_vectors(inputs: torch.Tensor) -> torch.Tensor:
    weights = attention_weights(inputs)
    return weights @ (weights @ inputs)
