"""A word that comes again gets a new index, and the next word the same one: leave it the index that it has."""


def build_vocabulary(sentence: str) -> dict[str, int]:
    vocabulary: dict[str, int] = {}
    for word in sorted(sentence.replace(",", "").split()):
        vocabulary[word] = len(vocabulary)
    return vocabulary
