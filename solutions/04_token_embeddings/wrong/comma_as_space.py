"""A comma is replaced by a space, so “10,000” becomes two words: drop it and put nothing in its place."""


def build_vocabulary(sentence: str) -> dict[str, int]:
    words = sentence.replace(",", " ").split()
    return {word: index for index, word in enumerate(sorted(set(words)))}


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = sentence.replace(",", " ").split()
    return torch.tensor([vocabulary[word] for word in words])  # (T,)
