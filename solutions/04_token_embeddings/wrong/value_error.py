"""An unknown word raises ValueError: the lesson asks for KeyError."""


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = sentence.replace(",", "").split()
    for word in words:
        if word not in vocabulary:
            raise ValueError(f"unknown word: {word}")
    return torch.tensor([vocabulary[word] for word in words])  # (T,)
