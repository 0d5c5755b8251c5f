"""attention_score applies a softmax: the score of one pair is raw."""


def attention_score(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    return torch.softmax(query @ key, dim=-1)  # ()
