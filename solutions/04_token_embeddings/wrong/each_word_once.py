"""encode gives each word once: a word that comes twice in the text has two token ids."""


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = sentence.replace(",", "").split()
    return torch.tensor([vocabulary[word] for word in dict.fromkeys(words)])  # (T,)
