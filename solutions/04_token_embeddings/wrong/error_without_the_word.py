"""The KeyError does not say which word is unknown: put the word into it."""


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = sentence.replace(",", "").split()
    if any(word not in vocabulary for word in words):
        raise KeyError("unknown word")
    return torch.tensor([vocabulary[word] for word in words])  # (T,)
