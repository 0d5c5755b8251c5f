"""context_vectors returns the weights: multiply them by the tokens to get the context vectors."""


def context_vectors(inputs: torch.Tensor) -> torch.Tensor:
    return attention_weights(inputs)
