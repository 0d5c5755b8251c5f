"""attention_scores_for_query takes the mean of the products: a dot product is their sum."""


def attention_scores_for_query(inputs: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    return (inputs * query).mean(dim=-1)  # (T, d) -> (T,)
