"""The figure: the experiment's translation, and the article's sentence that looks at eight random tokens."""

import torch

from grader.authors import Figure, Start, manual_seed

WORDS = ("Life", "is", "short", "eat", "dessert", "first")
TOKENS = (0, 4, 5, 2, 1, 3)
# The scores of the layer that `experiment.py` trains, for "I saw the cat".
SCORES = [
    [16.62821, -12.21105, -1.99322, -12.59483],
    [10.59848, -8.25659, 4.29799, -7.16541],
    [-0.74864, -3.83150, -0.65512, 19.07598],
    [6.21984, -9.37948, 0.92312, 22.02835],
    [-22.76597, 22.34268, -3.58954, -7.63328],
]


def data(documented):
    """Of both: x_1, x_2 and the weight matrices; the lesson's have the seed 123, and x_2 is drawn right after them."""
    manual_seed(123)
    x_1 = torch.nn.Embedding(50_000, 3)(torch.tensor(TOKENS))
    manual_seed(123)
    weights = {"W_query": torch.rand(3, 2), "W_key": torch.rand(3, 2), "W_value": torch.rand(3, 4)}
    return {"lesson": {"x_1": x_1, "words": WORDS, **weights, "x_2": torch.rand(8, 3)}, "trained": trained()}


def trained():
    """Five places that ask, named after the words that come out there, and four words; products give the scores."""
    names = {"words": ["ich", "habe", "die", "Katze", "gesehen"], "others": ["I", "saw", "the", "cat"]}
    scores = torch.tensor(SCORES) * len(SCORES[0]) ** 0.5  # which the figure divides by
    return {"x_1": torch.eye(5), "x_2": torch.eye(4), "W_query": scores, "W_key": torch.eye(4), **names}


FIGURE = Figure(
    "Lines from five German words to four English ones, as thick as the weights of a layer that learned to translate.",
    data,
    {"context vectors": Start("context_vectors")},
)
