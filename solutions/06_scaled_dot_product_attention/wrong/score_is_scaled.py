"""attention_score divides by √d_k: the score of one pair is raw, the weights alone are scaled."""


def attention_score(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    return query @ key / query.shape[-1] ** 0.5  # ()
