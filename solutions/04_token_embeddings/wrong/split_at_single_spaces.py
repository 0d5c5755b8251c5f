"""split(" ") splits at each single space, so tabs, line ends and double spaces go wrong: split at any white space."""


def build_vocabulary(sentence: str) -> dict[str, int]:
    words = sentence.replace(",", "").split(" ")
    return {word: index for index, word in enumerate(sorted(set(words)))}


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = sentence.replace(",", "").split(" ")
    return torch.tensor([vocabulary[word] for word in words])  # (T,)
