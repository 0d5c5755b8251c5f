"""The figure: the vocabulary of the document's sentence, and the first rows of the later edition's table."""

import torch

from grader.authors import Figure, Start, manual_seed

SENTENCE = "Life is short, eat dessert first"


def data(documented):
    """The vocabulary, and the row of each of its words: (6, 3)."""
    vocabulary = documented["vocabulary"]
    manual_seed(123)
    table = torch.nn.Embedding(50_000, 3).weight[: len(vocabulary)]
    return {"sentence": SENTENCE, "vocabulary": vocabulary, "table": table}


FIGURE = Figure(
    "The ids of a sentence, and their rows.",
    data,
    {
        "token ids": Start("tokens_of_later_edition"),
        "the embedded sentence": Start("x_of_later_edition"),
    },
)
