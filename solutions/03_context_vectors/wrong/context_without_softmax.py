"""context_vector weighs the tokens with raw scores: the softmax over them is missing."""


def context_vector(inputs: torch.Tensor, query_index: int) -> torch.Tensor:
    scores = inputs @ inputs[query_index]  # (T,)
    return scores @ inputs  # (d,)
