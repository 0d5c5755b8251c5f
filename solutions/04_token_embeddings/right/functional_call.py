"""Style: words gathered letter by letter, bisect-free search in a list, the layer called by functional_call."""

import torch
from torch.func import functional_call


def letters_to_words(sentence: str) -> list[str]:
    words, word = [], ""
    for letter in sentence + " ":
        if letter.isspace():
            words += [word] if word else []
            word = ""
        elif letter != ",":
            word += letter
    return words


def build_vocabulary(sentence: str) -> dict[str, int]:
    unique = list(dict.fromkeys(letters_to_words(sentence)))
    unique.sort()
    return dict(zip(unique, range(len(unique))))


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = letters_to_words(sentence)
    ids = torch.empty(len(words), dtype=torch.int64)
    for place, word in enumerate(words):
        ids[place] = vocabulary[word]
    return ids


class TokenEmbedding(torch.nn.Module):
    def __init__(self, vocab_size: int, d: int):
        super().__init__()
        self.add_module("embedding", torch.nn.Embedding(vocab_size, d))

    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        return functional_call(self.embedding, dict(self.embedding.named_parameters()), (token_ids,))
