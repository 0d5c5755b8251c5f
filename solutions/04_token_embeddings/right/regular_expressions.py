"""Regular expressions; the lookup is torch.nn.functional.embedding; a subclass of KeyError."""

import re

import torch
import torch.nn.functional as F

print("loading my solution")


class UnknownWord(KeyError):
    def __str__(self):
        return "unknown word '%s', known are: %s" % self.args


def tokens(sentence):
    return re.findall(r"\S+", re.sub(",", "", sentence))


def build_vocabulary(sentence: str) -> dict:
    words = list(set(tokens(sentence)))
    words.sort()
    return dict(zip(words, range(len(words)), strict=True))


def encode(sentence: str, vocabulary: dict) -> torch.LongTensor:
    try:
        return torch.LongTensor(list(map(vocabulary.__getitem__, tokens(sentence))))
    except KeyError as error:
        raise UnknownWord(error.args[0], ", ".join(vocabulary)) from None


class TokenEmbedding(torch.nn.Module):
    def __init__(self, vocab_size, d):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Embedding(vocab_size, d))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, token_ids):
        self.calls += 1
        return F.embedding(token_ids, self.layers[0].weight)
