"""The figure: the experiment's translation, and the article's sentence that looks at eight random tokens."""

import runpy

import torch

from grader.authors import Figure, Start, manual_seed
from grader.catalog import paths

WORDS = ("Life", "is", "short", "eat", "dessert", "first")
TOKENS = (0, 4, 5, 2, 1, 3)


def data(documented):
    """Of both: x_1, x_2 and the weight matrices; the lesson's have the seed 123, and x_2 is drawn right after them."""
    manual_seed(123)
    x_1 = torch.nn.Embedding(50_000, 3)(torch.tensor(TOKENS))
    manual_seed(123)
    weights = {"W_query": torch.rand(3, 2), "W_key": torch.rand(3, 2), "W_value": torch.rand(3, 4)}
    return {"lesson": {"x_1": x_1, "words": WORDS, **weights, "x_2": torch.rand(8, 3)}, "trained": trained()}


def trained():
    """The experiment's layer: five places ask, named after the words that come out there, of four words."""
    experiment = runpy.run_path(str(paths.EXERCISES / "16_cross_attention" / "experiment.py"))
    german, english, new = experiment["sentences"]()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as in the experiment: so small, the model is trained ten times as fast
    with torch.enable_grad():
        model = experiment["trained"](german[~new], english[~new])
    torch.set_num_threads(threads)
    x_2 = model["english"][[experiment["ENGLISH"].index(word) for word in experiment["SHOWN"]]]
    names = {"words": experiment["ASKS"], "others": experiment["SHOWN"]}
    return {"x_1": model["place"], "x_2": x_2, "W_query": model["query"], "W_key": model["key"], **names}


FIGURE = Figure(
    "Lines from five German words to four English ones, as thick as the weights of a layer that learned to translate.",
    data,
    {"context vectors": Start("context_vectors")},
)
