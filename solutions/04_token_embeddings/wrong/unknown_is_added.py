"""An unknown word is added to the vocabulary that is given: raise KeyError and leave the vocabulary alone."""


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = sentence.replace(",", "").split()
    return torch.tensor([vocabulary.setdefault(word, len(vocabulary)) for word in words])  # (T,)
