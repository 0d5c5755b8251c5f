"""Unknown words are left out of the token ids without a word: let KeyError be raised."""


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = sentence.replace(",", "").split()
    return torch.tensor([vocabulary[word] for word in words if word in vocabulary])  # (T,)
