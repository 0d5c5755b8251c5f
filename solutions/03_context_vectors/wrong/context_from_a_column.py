"""context_vector takes the weights from a column of the matrix: row i holds the weights of token i."""


def context_vector(inputs: torch.Tensor, query_index: int) -> torch.Tensor:
    return attention_weights(inputs)[:, query_index] @ inputs  # (d,)
