"""attention_scores returns inside its loop: the first row alone is filled in, so put the return behind the loops."""


def attention_scores(inputs: torch.Tensor) -> torch.Tensor:
    scores = inputs.new_zeros(len(inputs), len(inputs))
    for i, token in enumerate(inputs):
        scores[i] = inputs @ token
        return scores
    return scores
