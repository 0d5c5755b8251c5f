"""Style: comprehensions over enumerate of a sorted set, functional embedding with a parameter of the layer's."""

import torch
from torch import nn


def _words(text):
    return [word for word in "".join(" " if c.isspace() else c for c in text if c != ",").split(" ") if word]


def build_vocabulary(sentence):
    return {w: i for i, w in enumerate(sorted({*_words(sentence)}))}


def encode(sentence, vocabulary):
    return torch.LongTensor([*map(vocabulary.__getitem__, _words(sentence))])


class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size, d):
        super().__init__()
        self.embedding = nn.Embedding(num_embeddings=vocab_size, embedding_dim=d)

    forward = lambda self, token_ids: nn.functional.embedding(token_ids, self.embedding.weight)  # noqa: E731
