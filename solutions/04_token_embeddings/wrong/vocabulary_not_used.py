"""encode numbers the words of the sentence anew: take the indices from the vocabulary that is given."""


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = sentence.replace(",", "").split()
    own = build_vocabulary(sentence)
    if not all(word in vocabulary for word in words):
        raise KeyError(next(word for word in words if word not in vocabulary))
    return torch.tensor([own[word] for word in words])  # (T,)
