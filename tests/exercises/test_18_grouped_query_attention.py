"""What is done to the figure of exercise 18, and what torch computes must come out."""

import torch
from figure_case import Case
from torch import nn


def grouped(groups: int) -> dict[str, torch.Tensor]:
    """Exercise 18: the parameters that torch counts in such layers."""
    layers = [nn.Linear(512, size, bias=False) for size in (512, 64 * groups, 64 * groups)] + [nn.Linear(512, 512)]
    count = sum(p.numel() for layer in layers for p in layer.parameters())
    used = torch.arange(groups).repeat_interleave(8 // groups)
    return {"parameters of one layer": torch.tensor(count), "head of keys that each head of queries uses": used}


CASES = [
    Case("a head each", [("choose", "Heads of keys", "8")], lambda: grouped(8), "keys of its own"),
    Case("one for all", [("choose", "Heads of keys", "1")], lambda: grouped(1), "8 heads share.*512 MiB"),
    Case(
        "a long text",
        [("choose", "Heads of keys", "4"), ("move", "Tokens", 17)],
        lambda: grouped(4),
        "131,072 tokens the cache takes 32 GiB; without sharing it takes 64 GiB",
    ),
]
