"""attention_scores cuts negative scores off at 0: tokens that point in opposite ways have a negative score."""


def attention_scores(inputs: torch.Tensor) -> torch.Tensor:
    return (inputs @ inputs.T).clamp(min=0)  # (T, d) @ (d, T) -> (T, T)
