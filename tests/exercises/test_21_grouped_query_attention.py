"""What is done to the figure of exercise 21, and what torch computes must come out; the other numbers of its lesson."""

import torch
from figure_case import TO_LESSON, Case
from thorough import nightly
from torch import nn
from truths import measure_again


@nightly  # it trains
def test_the_table_of_merged_heads_is_the_one_of_the_lesson():
    measure_again("21", "measure_pooling.py", rows=7, names=27)


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
