"""What is done to the figure of exercise 21, and what torch computes must come out; the other numbers of its lesson."""

import re

import torch
from figure_case import TO_LESSON, Case
from thorough import nightly
from torch import nn
from truths import measure_again

from grader import catalog
from grader.catalog import paths

LESSON = paths.lesson(catalog.find("21").folder)


@nightly  # it trains
def test_the_table_of_merged_heads_is_the_one_of_the_lesson():
    measure_again("21", "measure_pooling.py", rows=7, names=27)


def test_merging_as_the_lesson_has_it_takes_the_mean_of_a_group():
    code = re.search(r"^def merge_kv.*?(?=^```)", LESSON.read_text("utf-8"), re.M | re.S)[0]
    exec(code, names := {})
    rows = torch.tensor([[1.0, 2.0], [3.0, 6.0], [0.0, 1.0], [0.0, 3.0]])  # four heads of one number
    assert torch.equal(names["merge_kv"](rows, 4, 2), torch.tensor([[2.0, 4.0], [0.0, 2.0]]))
    weight = torch.randn(12, 5)  # six heads of two numbers
    assert torch.equal(names["merge_kv"](weight, 6, 6), weight)
    expected = torch.stack([weight[[0, 2, 4]].mean(0), weight[[1, 3, 5]].mean(0)])
    torch.testing.assert_close(names["merge_kv"](weight, 6, 2)[:2], expected)


def grouped(groups: int) -> dict[str, torch.Tensor]:
    """Exercise 21: the parameters that torch counts in such layers."""
    layers = [nn.Linear(512, size, bias=False) for size in (512, 64 * groups, 64 * groups)] + [nn.Linear(512, 512)]
    count = sum(p.numel() for layer in layers for p in layer.parameters())
    used = torch.arange(groups).repeat_interleave(8 // groups)
    return {"parameters of one layer": torch.tensor(count), "head of keys that each head of queries uses": used}


CASES = [
    Case([{"Heads of keys": "8"}], lambda: grouped(8), "keys of its own"),
    Case([TO_LESSON, {"Heads of keys": "1"}], lambda: grouped(1), "8 heads of queries share the only head .*512 MiB"),
    Case(
        [{"Heads of keys": "4", "Tokens": 17}],
        lambda: grouped(4),
        "131,072 tokens the cache takes 32 GiB; without sharing it takes 64 GiB",
    ),
]
