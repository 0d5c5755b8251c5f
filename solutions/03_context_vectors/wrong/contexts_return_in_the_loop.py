"""context_vectors returns inside its loop: the first row alone is filled in, so put the return behind the loop."""


def context_vectors(inputs: torch.Tensor) -> torch.Tensor:
    contexts = torch.zeros_like(inputs)  # (T, d)
    for i, weights in enumerate(attention_weights(inputs)):
        contexts[i] = weights @ inputs
        return contexts
    return contexts
