"""Exercise 04: token embeddings. From words to vectors."""

import torch


def build_vocabulary(sentence: str) -> dict[str, int]:
    """Give every word of a sentence an index.

    Commas are dropped and the rest is split at white space. The words are sorted as Python sorts them.

    Args:
        sentence: a text of one word or more.

    Returns:
        word -> index, counted from 0 in sorted order; each word is in it once.
    """
    words = sentence.replace(",", "").split()
    return {word: index for index, word in enumerate(sorted(set(words)))}


def encode(sentence: str, vocabulary: dict[str, int]) -> torch.Tensor:
    """Replace every word of a sentence by its index.

    Args:
        sentence: a text of one word or more; commas are dropped as in build_vocabulary.
        vocabulary: word -> index.

    Returns:
        token ids in the order of the text, shape (T,), dtype int64, on the CPU.

    Raises:
        KeyError: a word is not in the vocabulary; the error names the word.
    """
    words = sentence.replace(",", "").split()
    return torch.tensor([vocabulary[word] for word in words])  # (T,)


class TokenEmbedding(torch.nn.Module):
    """A table with one trainable row of numbers for each token.

    Args:
        vocab_size: the number of tokens in the vocabulary.
        d: the length of each token's vector.
    """

    def __init__(self, vocab_size: int, d: int):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocab_size, d)  # weight: (vocab_size, d)

    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        """Look up the vector of every token.

        Args:
            token_ids: indices from 0 to vocab_size - 1, shape (T,) or (B, T).

        Returns:
            embedded tokens, shape (T, d) or (B, T, d).
        """
        return self.embedding(token_ids)  # (..., d)
