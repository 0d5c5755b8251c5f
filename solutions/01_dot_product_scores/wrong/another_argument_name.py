"""attention_scores calls its argument x. The lesson calls it inputs: callers may use the name."""


def attention_scores(x: torch.Tensor) -> torch.Tensor:
    inputs = x
    return inputs @ inputs.T  # (T, d) @ (d, T) -> (T, T)
