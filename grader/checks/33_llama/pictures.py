"""The pictures: the logits of the lesson's small model, and four words under five ways to choose."""

import torch

from grader.authors import Drawing, expect_shape

CONFIG = {
    "vocab_size": 6,
    "hidden_size": 8,
    "intermediate_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
WAYS = {"plain": (1.0,), "cold": (0.5,), "two": (1.0, 2), "most": (1.0, None, 0.8), "both": (1.0, 3, 0.8)}


def expected_logits(documented):
    return documented["logits"]


def ask_logits(learner):
    logits, _ = learner.Llama(CONFIG, seed=123)(torch.tensor([[0, 4, 5, 2, 1, 3]]))
    expect_shape(logits, (1, 6, 6), "the logits")
    return logits[0]


def expected_choices(documented):
    return torch.stack([documented[name] for name in WAYS])


def ask_choices(learner):
    logits = torch.tensor([0.5, 0.25, 0.125, 0.125]).log()
    rows = [learner.next_distribution(logits, *options) for options in WAYS.values()]
    for row in rows:
        expect_shape(row, (4,))
    return torch.stack(rows)


PICTURES = [
    Drawing("The logits of the small model", expected_logits, ask_logits, note="One row after each of its six tokens."),
    Drawing(
        "Four words, five ways to choose",
        expected_choices,
        ask_choices,
        note="From above: plain, temperature ½, top_k 2, top_p 0.8, and top_k 3 with top_p 0.8.",
    ),
]
