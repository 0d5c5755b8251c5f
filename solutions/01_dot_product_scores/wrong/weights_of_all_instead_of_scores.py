"""attention_scores applies softmax already: scores are the bare dot products."""


def attention_scores(inputs: torch.Tensor) -> torch.Tensor:
    return torch.softmax(inputs @ inputs.T, dim=-1)  # (T, d) @ (d, T) -> (T, T)
