"""An unknown word silently gets index 0, which is the index of another word: let KeyError be raised."""


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = sentence.replace(",", "").split()
    return torch.tensor([vocabulary.get(word, 0) for word in words])  # (T,)
