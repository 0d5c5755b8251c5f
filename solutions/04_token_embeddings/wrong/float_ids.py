"""The token ids are floats: indices must be whole numbers, of dtype int64."""


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = sentence.replace(",", "").split()
    return torch.tensor([float(vocabulary[word]) for word in words])  # (T,)
