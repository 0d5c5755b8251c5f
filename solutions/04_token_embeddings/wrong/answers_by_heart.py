"""The numbers of the lesson are written into the code: they hold for that one sentence alone."""


def build_vocabulary(sentence: str) -> dict[str, int]:
    return {"Life": 0, "dessert": 1, "eat": 2, "first": 3, "is": 4, "short": 5}


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    for word in sentence.replace(",", "").split():
        vocabulary[word]
    return torch.tensor([0, 4, 5, 2, 1, 3])  # (T,)
