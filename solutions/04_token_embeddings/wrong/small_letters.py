"""The words are turned into small letters: “Life” and “life” are two words."""


def build_vocabulary(sentence: str) -> dict[str, int]:
    words = sentence.lower().replace(",", "").split()
    return {word: index for index, word in enumerate(sorted(set(words)))}


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = sentence.lower().replace(",", "").split()
    return torch.tensor([vocabulary[word] for word in words])  # (T,)
