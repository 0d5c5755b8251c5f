"""encode builds a vocabulary of its own: use the one that is passed in."""


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = sentence.replace(",", "").split()
    vocabulary = build_vocabulary(sentence)
    return torch.tensor([vocabulary[word] for word in words])  # (T,)
