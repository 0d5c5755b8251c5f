"""The commas stay at the words, so “short,” is another word than “short”: drop them before splitting."""


def build_vocabulary(sentence: str) -> dict[str, int]:
    words = sentence.split()
    return {word: index for index, word in enumerate(sorted(set(words)))}


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = sentence.split()
    return torch.tensor([vocabulary[word] for word in words])  # (T,)
