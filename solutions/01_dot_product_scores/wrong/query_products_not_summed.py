"""attention_scores_for_query multiplies entry by entry and never sums: each token has one score, so sum over the last dimension."""


def attention_scores_for_query(inputs: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    return inputs * query  # (T, d) @ (d,) -> (T,)
