"""context_vectors uses the weights by column: row i of the weights belongs to token i."""


def context_vectors(inputs: torch.Tensor) -> torch.Tensor:
    return attention_weights(inputs).T @ inputs
