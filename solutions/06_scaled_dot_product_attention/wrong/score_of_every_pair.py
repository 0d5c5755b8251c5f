"""attention_score multiplies every entry of the query with every entry of the key: entry i meets entry i alone."""


def attention_score(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    return query[:, None] * key  # ()
