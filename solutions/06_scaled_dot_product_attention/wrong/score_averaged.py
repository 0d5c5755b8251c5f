"""attention_score takes the mean of the products: a dot product is their sum."""


def attention_score(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    return (query * key).mean()  # ()
