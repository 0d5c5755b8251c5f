"""Rows by index_select and view_as; the words are checked before the lookup; a frozen dataclass keeps the sizes."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True)
class Sizes:
    vocabulary: int
    width: int


def build_vocabulary(sentence: str) -> dict[str, int]:
    words: set[str] = set()
    for part in sentence.split():
        word = part.replace(",", "")
        if word:
            words.add(word)
    ranks = sorted(words)
    return {word: ranks.index(word) for word in words}


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    words = [part.replace(",", "") for part in sentence.split() if part.strip(",")]
    missing = [word for word in words if word not in vocabulary]
    if missing:
        raise KeyError(f"not in the vocabulary: {', '.join(missing)}")
    return torch.tensor([vocabulary[word] for word in words], dtype=torch.int64, device="cpu")


class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size: int, d: int):
        super().__init__()
        self.sizes = Sizes(vocab_size, d)
        self.token_embedding_table = nn.Embedding(vocab_size, d)

    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        flat = torch.index_select(self.token_embedding_table.weight, 0, token_ids.flatten())
        return flat.unflatten(0, token_ids.shape)
