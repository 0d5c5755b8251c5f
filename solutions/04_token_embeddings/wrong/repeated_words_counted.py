"""A word that comes twice takes up two indices: give each word one index, without gaps."""


def build_vocabulary(sentence: str) -> dict[str, int]:
    words = sentence.replace(",", "").split()
    return {word: index for index, word in enumerate(sorted(words))}
