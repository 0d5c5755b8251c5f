"""encode does not drop the commas as build_vocabulary does: it looks for “short,” where “short” is known."""


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = sentence.split()
    return torch.tensor([vocabulary[word] for word in words])  # (T,)
