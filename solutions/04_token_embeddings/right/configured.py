"""Style: a dataclass of sizes, a small tokenizer class with stoi and itos, indexing into the weight."""

from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class EmbeddingConfig:
    vocab_size: int
    n_embd: int


class Tokenizer:
    def __init__(self, stoi: dict[str, int]):
        self.stoi = stoi
        self.itos = {i: s for s, i in stoi.items()}

    @staticmethod
    def split(text: str) -> list[str]:
        return text.replace(",", "").split()

    def encode(self, text: str) -> list[int]:
        return [self.stoi[s] for s in self.split(text)]


def build_vocabulary(sentence: str) -> dict[str, int]:
    vocab: dict[str, int] = {}
    for word in sorted(Tokenizer.split(sentence)):
        vocab.setdefault(word, len(vocab))
    return vocab


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    return torch.tensor(Tokenizer(vocabulary).encode(sentence), dtype=torch.long)


class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size: int, d: int):
        super().__init__()
        self.config = EmbeddingConfig(vocab_size, d)
        self.embedding = nn.Embedding(self.config.vocab_size, self.config.n_embd)

    @property
    def table(self) -> torch.Tensor:
        return self.embedding.weight

    def forward(self, idx_or_token_ids=None, **named) -> torch.Tensor:
        idx = named.get("token_ids", idx_or_token_ids)
        return self.table[idx]
