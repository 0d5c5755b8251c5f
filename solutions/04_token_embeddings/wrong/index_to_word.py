"""build_vocabulary gives index -> word: the words are the keys, and their indices the values."""


def build_vocabulary(sentence: str) -> dict[str, int]:
    words = sentence.replace(",", "").split()
    return {index: word for index, word in enumerate(sorted(set(words)))}
