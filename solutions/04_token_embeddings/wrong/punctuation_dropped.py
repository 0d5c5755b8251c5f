"""Other marks than commas are dropped too: a full stop or an apostrophe belongs to its word."""


def build_vocabulary(sentence: str) -> dict[str, int]:
    words = "".join(c for c in sentence if c.isalnum() or c.isspace()).split()
    return {word: index for index, word in enumerate(sorted(set(words)))}


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = "".join(c for c in sentence if c.isalnum() or c.isspace()).split()
    return torch.tensor([vocabulary[word] for word in words])  # (T,)
