"""What is done to the figure of exercise 14, and what torch computes; and the truth of what its lesson trains."""

import functools
import math
import re
from collections import Counter

import pytest
import torch
from figure_case import TO_LESSON, Case
from figure_truths import Transformer
from torch.nn import functional as F

from grader import catalog
from grader.catalog import documented, paths
from grader.desk import lesson
from grader.judge.inputs import manual_seed

FOLDER = catalog.find("14").folder
LESSON = lesson.text(FOLDER)
TEXT = re.search(r'text = """(.*?)"""', LESSON, re.S)[1]
LINES = [line.split() for line in TEXT.splitlines()]
VOCABULARY = sorted({word for line in LINES for word in line})
PRINTED = {number.id: number.data.value for number in documented.numbers(FOLDER)}


def small_model(ids: list[int]) -> dict[str, torch.Tensor]:
    """Exercise 14's model of seed 123."""
    manual_seed(123)
    logits = Transformer(6, 8, 6, 2, 2)(torch.tensor(ids))
    return {"loss": F.cross_entropy(logits[:-1], torch.tensor(ids[1:]), reduction="none")}


def expects(steps: int, line: str, off: tuple[tuple[int, int], ...] = ()) -> dict[str, torch.Tensor]:
    """The five largest probabilities of what comes after some words."""
    ids = torch.tensor([VOCABULARY.index(word) for word in line.split()])
    return {f"after “{line}”": train(steps)[1](ids, off)[-1].softmax(-1).topk(5).values}


def writer(steps: int, line: str, off: tuple[tuple[int, int], ...] = ()) -> dict[str, torch.Tensor]:
    """The losses of a line, and what comes after its fourth word there and in the line that is beside it."""
    ids = torch.tensor([VOCABULARY.index(word) for word in line.split()])
    loss = F.cross_entropy(train(steps)[1](ids, off)[:-1], ids[1:], reduction="none")
    both = (expects(steps, f"{name} sings and the", off) for name in ("Tom", "Ann"))
    return {"loss": loss, **next(both), **next(both)}


TOM = "Tom sings and the dog howls"
NUMBERS = {"Losses and maps": True}
CASES = [
    Case(
        [],
        lambda: {name: five[:3] for name, five in writer(76, TOM).items() if name != "loss"},
        "expects “dog”, with 0.97; layer 0, head 1 looks at “Tom”, with the weight 0.89",
        1e-4,
    ),
    Case([NUMBERS], lambda: writer(76, TOM), "expects “dog”.*“dog” follows: a loss of 0.0351", 1e-4),
    Case(
        [{"layer 0, head 1": False}, NUMBERS],
        lambda: writer(76, TOM, ((0, 1),)),
        "expects “cat”.*“dog” follows, which had 0.0",
        1e-4,
    ),
    Case([NUMBERS, {"Model": "for 26 steps"}], lambda: writer(26, TOM), "expects “cat”", 1e-4),
    Case([TO_LESSON, ("type", "Tokens", "3 3 1 0 2")], lambda: small_model([3, 3, 1, 0, 2]), "expects"),
    Case([TO_LESSON, ("pick", "pick a token", 0, 3)], says="After “eat” .* “dessert” follows, .* a loss of 2.9785"),
    Case([TO_LESSON, ("type", "Tokens", "Life is long")], says="“long” is no token: type Life, dessert"),
]


@functools.cache
@torch.enable_grad()
def train(steps: int) -> tuple[list[float], Transformer]:
    """The mean losses, and the model, after gradient descent line by line, of a model whose attention is torch's."""
    manual_seed(123)
    model = Transformer(len(VOCABULARY), 8, 6, 1, 2).double()
    losses = []
    for _ in range(steps):
        total = torch.tensor(0.0, dtype=torch.float64)
        for line in LINES:
            ids = torch.tensor([VOCABULARY.index(word) for word in line])
            total = total - model(ids)[:-1].log_softmax(-1)[torch.arange(5), ids[1:]].sum()
        gradients = torch.autograd.grad(total / 20, list(model.parameters()))
        losses.append(float(total.detach()) / 20)
        with torch.no_grad():
            for parameter, gradient in zip(model.parameters(), gradients, strict=True):
                parameter.copy_(parameter - gradient / 2)
    return losses, model


def write(model: Transformer, name: str) -> str:
    """What a model writes after a name."""
    line = [name]
    for _ in range(5):
        logits = model(torch.tensor([VOCABULARY.index(word) for word in line]))[-1]
        line.append(VOCABULARY[int(logits.argmax())])
    return " ".join(line)


def least_loss(seen) -> float:
    """The lowest mean loss of any model that predicts from seen(the words so far): the entropy, by counting."""
    pairs = [(seen(tuple(line[:place])), line[place]) for line in LINES for place in range(1, len(line))]
    together, alone = Counter(pairs), Counter(before for before, _ in pairs)
    return -sum(math.log(together[pair] / alone[pair[0]]) for pair in pairs) / len(pairs)


def test_the_lesson_s_training_is_what_an_independent_loop_gives():
    losses, model = train(76)
    assert [round(loss, 4) for loss in losses[::25]] == pytest.approx(PRINTED["training"].tolist())
    assert "# tensor([2.2433, 0.2303, 0.1960, 0.1024])" in LESSON
    for number, (before, after) in enumerate(zip(PRINTED["written_before"], PRINTED["written_after"], strict=True)):
        assert [VOCABULARY[int(word)] for word in before] == write(train(0)[1], VOCABULARY[number]).split()
        assert [VOCABULARY[int(word)] for word in after] == write(model, VOCABULARY[number]).split()
        assert f"'{write(model, VOCABULARY[number])}'" in LESSON
    assert f"'{write(train(0)[1], 'Tom')}'" in LESSON


def test_the_lowest_losses_of_the_lesson_are_entropies():
    whole, one = least_loss(tuple), least_loss(lambda before: before[-1])
    assert f"{whole:.4f}" == "0.0955" and f"{one:.4f}" == "0.2079" and "= 0.0955$" in LESSON and "= 0.2079$" in LESSON
    lowest, last = whole, PRINTED["training"][-1]
    assert f"{last - lowest:.4f}" == "0.0069" and "0.0069 above" in LESSON
    assert f"{20 * whole:.4f}" == "1.9095" and f"{20 * (one - whole):.4f}" == "2.2493"
    assert f"{math.log(len(VOCABULARY)):.4f}" == "2.3026"
    assert all(math.isclose(least_loss(seen), one) for seen in (lambda b: (len(b), b[-1]), lambda b: b[-2:]))


def test_the_check_trains_on_the_lesson_s_lines():
    source = paths.documented_checks(FOLDER).read_text("utf-8")
    assert all(source.count(f'"{line}",') == TEXT.splitlines().count(line) for line in set(TEXT.splitlines()))
