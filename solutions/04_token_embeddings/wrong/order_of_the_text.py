"""The words are numbered as they come in the text: sort them first."""


def build_vocabulary(sentence: str) -> dict[str, int]:
    words = sentence.replace(",", "").split()
    return {word: index for index, word in enumerate(dict.fromkeys(words))}
