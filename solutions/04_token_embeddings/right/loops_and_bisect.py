"""Explicit loops: words are gathered letter by letter, the sorted list is kept by bisect, the error has its own text."""

import bisect

import torch
from torch import LongTensor, Tensor, nn


def split_words(text):
    words, current = [], ""
    for letter in text:
        if letter == ",":
            continue
        if letter.isspace():
            if current:
                words.append(current)
            current = ""
        else:
            current += letter
    if current:
        words.append(current)
    return words


def build_vocabulary(sentence):
    ordered = []
    for word in split_words(sentence):
        place = bisect.bisect_left(ordered, word)
        if place == len(ordered) or ordered[place] != word:
            ordered.insert(place, word)
    vocabulary = {}
    for word in ordered:
        vocabulary[word] = len(vocabulary)
    return vocabulary


def encode(sentence, vocabulary):
    words = split_words(sentence)
    ids = torch.empty(len(words), dtype=torch.int64)
    for place, word in enumerate(words):
        if word not in vocabulary:
            raise KeyError(f"the word {word} is not among the {len(vocabulary)} words of the vocabulary")
        ids[place] = vocabulary[word]
    return ids


class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size: int, d: int) -> None:
        super(TokenEmbedding, self).__init__()
        self.vocab_size, self.d = vocab_size, d
        self.table_of_rows = nn.Embedding(num_embeddings=vocab_size, embedding_dim=d)

    def forward(self, token_ids: LongTensor) -> Tensor:
        rows = [self.table_of_rows.weight[token] for token in token_ids.reshape(-1).tolist()]
        return torch.stack(rows).reshape(*token_ids.shape, self.d)


if __name__ == "__main__":
    vocabulary = build_vocabulary("Life is short, eat dessert first")
    print(vocabulary, encode("eat first", vocabulary))
