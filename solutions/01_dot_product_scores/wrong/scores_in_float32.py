"""attention_scores_for_query fills torch.empty(T): that is float32 on the CPU, whatever inputs is."""


def attention_scores_for_query(inputs: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    scores = torch.empty(inputs.shape[0])
    for i, token in enumerate(inputs):
        scores[i] = (token * query).sum()
    return scores
