"""encode gives ids of dtype int32: torch’s own integers are int64, which an embedding is used with."""


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = sentence.replace(",", "").split()
    return torch.tensor([vocabulary[word] for word in words], dtype=torch.int32)  # (T,)
