"""attention_scores multiplies the wrong way round: inputs.T @ inputs is (d, d), not (T, T)."""


def attention_scores(inputs: torch.Tensor) -> torch.Tensor:
    return inputs.T @ inputs  # (d, d)
