"""attention_weights multiplies the wrong way round: inputs.T @ inputs is (d, d), not (T, T)."""


def attention_weights(inputs: torch.Tensor) -> torch.Tensor:
    return torch.softmax(inputs.T @ inputs, dim=-1)


def context_vectors(inputs: torch.Tensor) -> torch.Tensor:
    return torch.softmax(inputs @ inputs.T, dim=-1) @ inputs
