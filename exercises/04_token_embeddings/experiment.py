"""Which rows of the table learn from a sentence?

    make experiment EX=04

The table has a row for each word of "to be, or not to be", and for two words
that do not occur in it. The loss is the sum of all embedded numbers, so that
each place of the sentence pulls at its row with a gradient of 1.
"""

import torch

CLAIM = (
    "A row hears from every place where its word stands: twice as much of a "
    "word that comes twice, and nothing of a word that does not come."
)
VOCABULARY = {"be": 0, "is": 1, "not": 2, "or": 3, "that": 4, "to": 5}
SENTENCE = ("to", "be", "or", "not", "to", "be")


def measure() -> list[dict[str, float | str]]:
    """One row for each word of the vocabulary."""
    torch.manual_seed(123)
    embedding = torch.nn.Embedding(len(VOCABULARY), 2)
    ids = torch.tensor([VOCABULARY[word] for word in SENTENCE])
    embedding(ids).sum().backward()
    return [
        {
            "word": word,
            "times in the sentence": SENTENCE.count(word),
            "gradient of its row": float(embedding.weight.grad[index].mean()),
        }
        for word, index in VOCABULARY.items()
    ]


def claim(rows: list[dict[str, float | str]]) -> bool:
    """The gradient is the number of places."""
    return all(row["gradient of its row"] == row["times in the sentence"] for row in rows)
