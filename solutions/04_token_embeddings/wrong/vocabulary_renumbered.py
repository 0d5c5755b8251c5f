"""encode numbers the words of the vocabulary anew: take the indices that the vocabulary holds."""


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = sentence.replace(",", "").split()
    vocabulary = {word: index for index, word in enumerate(sorted(vocabulary))}
    return torch.tensor([vocabulary[word] for word in words])  # (T,)
