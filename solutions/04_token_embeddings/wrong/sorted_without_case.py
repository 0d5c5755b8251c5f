"""The words are sorted as if all were in small letters: Python sorts capital letters first."""


def build_vocabulary(sentence: str) -> dict[str, int]:
    words = sentence.replace(",", "").split()
    return {word: index for index, word in enumerate(sorted(sorted(set(words)), key=str.lower))}
