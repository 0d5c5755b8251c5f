"""Commas are only taken from the ends of words: those inside a word or alone between spaces are dropped as well."""


def build_vocabulary(sentence: str) -> dict[str, int]:
    words = [word.strip(",") for word in sentence.split()]
    return {word: index for index, word in enumerate(sorted(set(words)))}


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = [word.strip(",") for word in sentence.split()]
    return torch.tensor([vocabulary[word] for word in words])  # (T,)
