"""encode gives a matrix of one row: one sentence has the shape (T,)."""


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = sentence.replace(",", "").split()
    return torch.tensor([[vocabulary[word] for word in words]])  # (T,)
