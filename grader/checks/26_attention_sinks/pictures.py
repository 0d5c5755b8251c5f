"""The pictures: the weights of a row beside its sink, and what the newest token of a long text sees."""

import torch

from grader.authors import Drawing, expect_shape
from grader.sentence import inputs

TOKENS, SINKS, WINDOW = 12, 2, 4


def scores() -> torch.Tensor:
    """The sentence's causal scores, spread out, (6, 6)."""
    spread = 4 * (inputs() - inputs().mean(dim=0))
    return (spread @ spread.T).masked_fill(torch.ones(6, 6, dtype=torch.bool).triu(1), -torch.inf)


def expected_weights(documented):
    return torch.softmax(torch.cat([scores(), torch.full((6, 1), 2.0)], dim=1), dim=1)[:, :-1]


def ask_weights(learner):
    weights = learner.sink_softmax(scores()[None, None], torch.tensor([2.0]))
    expect_shape(weights, (1, 1, 6, 6))
    return weights[0, 0]


def expected_kept(documented):
    seen, place = torch.arange(1, TOKENS + 1)[:, None], torch.arange(TOKENS)
    return ((place < seen) & ((place < SINKS) | (place >= seen - WINDOW))).float()


def ask_kept(learner):
    rows = []
    for num_seen in range(1, TOKENS + 1):
        kept = learner.kept_positions(num_seen, SINKS, WINDOW)
        expect_shape(kept, (min(num_seen, SINKS + WINDOW),))
        rows.append(torch.isin(torch.arange(TOKENS), kept).float())
    return torch.stack(rows)


PICTURES = [
    Drawing("Weights beside a sink of 2", expected_weights, ask_weights, note="Rows no longer sum to 1."),
    Drawing(
        "What 2 sinks and a window of 4 keep",
        expected_kept,
        ask_kept,
        note="A row for each number of tokens seen: two columns stay, a band moves on.",
    ),
]
