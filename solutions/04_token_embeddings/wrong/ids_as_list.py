"""encode gives a Python list: make a tensor of the indices."""


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = sentence.replace(",", "").split()
    return [vocabulary[word] for word in words]  # (T,)
