"""encode gives the ids in sorted order: they stand in the order of the text."""


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = sentence.replace(",", "").split()
    return torch.tensor(sorted(vocabulary[word] for word in words))  # (T,)
