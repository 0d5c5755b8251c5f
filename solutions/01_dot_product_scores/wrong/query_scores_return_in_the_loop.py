"""attention_scores_for_query returns inside its loop: one score alone is filled in, so put the return behind the loop."""


def attention_scores_for_query(inputs: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    scores = inputs.new_zeros(len(inputs))
    for i, token in enumerate(inputs):
        scores[i] = (token * query).sum()
        return scores
    return scores
