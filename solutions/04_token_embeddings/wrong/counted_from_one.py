"""The indices start at 1: the first word has index 0."""


def build_vocabulary(sentence: str) -> dict[str, int]:
    words = sentence.replace(",", "").split()
    return {word: index for index, word in enumerate(sorted(set(words)), 1)}
