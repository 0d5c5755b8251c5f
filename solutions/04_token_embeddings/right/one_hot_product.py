"""The row is picked by a matrix product with one-hot vectors; words split by translate; an OrderedDict is returned."""

from collections import OrderedDict

import torch
from torch import nn

NO_COMMAS = str.maketrans({",": None})


def build_vocabulary(sentence: str) -> dict[str, int]:
    unique = OrderedDict.fromkeys(sorted(sentence.translate(NO_COMMAS).split()))
    for index, word in enumerate(unique):
        unique[word] = index
    return unique


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    ids = []
    for word in sentence.translate(NO_COMMAS).split():
        index = vocabulary.get(word)
        if index is None:
            raise KeyError(word)
        ids.append(index)
    return torch.as_tensor(ids, dtype=torch.long)


class TokenEmbedding(nn.Module):
    """x one-hot (..., V) @ weight (V, d)."""

    def __init__(self, vocab_size, d):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, d)
        self.size = vocab_size

    def forward(self, token_ids):
        one_hot = nn.functional.one_hot(token_ids, self.size)
        return one_hot.to(self.emb.weight.dtype) @ self.emb.weight
