"""The figure: the lesson's model of seed 123, and the trained one of the next lesson."""

import torch
from torch import nn

from grader.authors import Figure, Start, manual_seed, pack, trained_state

MODEL = {"vocabulary": 6, "width": 8, "context": 6, "layers": 2, "heads": 2}
TRAINED = {"vocabulary": 32, "width": 64, "context": 64, "layers": 2, "heads": 4}
WORDS = ("Life", "dessert", "eat", "first", "is", "short")  # of the ids 0 to 5, as in exercise 04
TOKENS = (0, 4, 5, 2, 1, 3)
PATTERN = (5, 17, 3, 29, 11, 5, 17, 3, 29, 11)


def drawn(vocabulary: int, width: int, context: int, layers: int, heads: int) -> list[torch.Tensor]:
    """The parameters of a model, drawn from the present state of torch's generator."""
    embeddings = [nn.Embedding(vocabulary, width).weight, nn.Embedding(context, width).weight]
    attention = [nn.Linear(width, width, bias=False).weight for _ in range(4 * layers)]
    return [*embeddings, *attention, nn.Linear(width, vocabulary, bias=False).weight]


def data(documented):
    """Both models, each with its parameters one after the other, and the tokens that are shown first."""
    manual_seed(123)
    own = torch.cat([one.flatten() for one in drawn(**MODEL)])
    trained = torch.cat([one.flatten() for one in trained_state("15_induction_heads").values()])
    return {
        "drawn": {"sizes": MODEL, "parameters": pack(own)},
        "trained": {"sizes": TRAINED, "half": pack(trained.half())},
        "tokens": TOKENS,
        "words": WORDS,
        "pattern": PATTERN,
    }


FIGURE = Figure(
    "A trained model: where its eight heads look, and the loss of each prediction.",
    data,
    {"loss": Start("loss")},
)
