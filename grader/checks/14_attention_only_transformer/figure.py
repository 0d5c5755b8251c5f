"""The figure: the model that the lesson trains on four lines, at three moments, and the model of seed 123 of task 2."""

import torch
from torch import nn
from torch.nn import functional as F

from grader.authors import Figure, Start, manual_seed, pack

MODEL = {"vocabulary": 6, "width": 8, "context": 6, "layers": 2, "heads": 2}
WRITER = {"vocabulary": 10, "width": 8, "context": 6, "layers": 1, "heads": 2}
WORDS = ("Life", "dessert", "eat", "first", "is", "short")  # of the ids 0 to 5, as in exercise 04
TOKENS = (0, 4, 5, 2, 1, 3)
LINES = [f"Ann sings and the cat {verb}".split() for verb in ("sleeps", "sleeps", "purrs")]
LINES.append(["Tom", "sings", "and", "the", "dog", "howls"])
VOCABULARY = sorted({word for line in LINES for word in line})
MOMENTS = (76, 26, 0)  # steps of the training


def drawn(vocabulary: int, width: int, context: int, layers: int, heads: int) -> list[torch.Tensor]:
    """The parameters of a model, drawn from the present state of torch's generator."""
    embeddings = [nn.Embedding(vocabulary, width).weight, nn.Embedding(context, width).weight]
    attention = [nn.Linear(width, width, bias=False).weight for _ in range(4 * layers)]
    return [*embeddings, *attention, nn.Linear(width, vocabulary, bias=False).weight]


def loss_of(parameters: list[torch.Tensor], lines: torch.Tensor) -> torch.Tensor:
    """The mean loss of a model of one layer."""
    token, position, query, key, value, out, unembedding = parameters
    x = token[lines] + position
    q, k, v = (F.linear(x, weight).unflatten(-1, (2, -1)).transpose(1, 2) for weight in (query, key, value))
    x = x + F.linear(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2), out)
    return F.cross_entropy(F.linear(x, unembedding)[:, :-1].flatten(0, 1), lines[:, 1:].flatten())


def train() -> dict[int, str]:
    """The parameters one after the other, packed, by the number of steps."""
    manual_seed(123)
    parameters = [one.detach().double() for one in drawn(**WRITER)]
    lines = torch.tensor([[VOCABULARY.index(word) for word in line] for line in LINES])
    packed = {}
    for step in range(max(MOMENTS) + 1):
        if step in MOMENTS:
            packed[step] = pack(torch.cat([one.flatten() for one in parameters]).float())
        with torch.enable_grad():
            parameters = [one.requires_grad_() for one in parameters]
            gradients = torch.autograd.grad(loss_of(parameters, lines), parameters)
        parameters = [(one - 0.5 * gradient).detach() for one, gradient in zip(parameters, gradients, strict=True)]
    return packed


def data(documented):
    """The models, each with its parameters one after the other, and the tokens that are shown first."""
    manual_seed(123)
    own = torch.cat([one.flatten() for one in drawn(**MODEL)])
    packed = train()
    return {
        "drawn": {"sizes": MODEL, "parameters": pack(own)},
        "writers": [{"sizes": WRITER, "parameters": packed[moment]} for moment in MOMENTS],
        "tokens": TOKENS,
        "words": WORDS,
        "lines": [LINES[-1], LINES[0]],
        "vocabulary": VOCABULARY,
    }


FIGURE = Figure(
    "The lesson's model in Tom's line and in Ann's: where its two heads look, and what it expects next.",
    data,
    {"loss": Start("loss")},
)
