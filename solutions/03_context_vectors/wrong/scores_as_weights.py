"""The raw scores are returned as weights: they are not normalised yet, so a row does not sum to 1."""


def attention_weights(inputs: torch.Tensor) -> torch.Tensor:
    scores = inputs @ inputs.T  # (T, T)
    return scores  # (T, T)
