"""Maximum and sum all at once and in blocks: the table of the lesson.

    python exercises/29_online_softmax/measure_passes.py

For 32 rows of scores, ever longer, it prints the largest tensor that each way makes, seen at torch's dispatcher, and
how far both sums are from float64.
"""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

ROWS, BLOCK = 32, 1024
TOKENS = (1024, 16_384, 262_144)


class Record(TorchDispatchMode):
    """Remembers the bytes of the largest tensor that an operation made."""

    def __init__(self):
        super().__init__()
        self.largest = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if _is_new(result, args):
            self.largest = max(self.largest, result.nbytes)
        return result


def _is_new(result, args) -> bool:
    """Whether a result is a tensor with memory of its own: a view has not."""
    if not isinstance(result, torch.Tensor):
        return False
    storages = {one.untyped_storage().data_ptr() for one in args if isinstance(one, torch.Tensor)}
    return result.untyped_storage().data_ptr() not in storages


def all_at_once(scores: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    largest = scores.amax(dim=-1)
    return largest, torch.exp(scores - largest[..., None]).sum(dim=-1)


def in_blocks(scores: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    largest, total = torch.full((ROWS,), -torch.inf), torch.zeros(ROWS)
    for block in scores.split(BLOCK, dim=-1):
        before, largest = largest, torch.maximum(largest, block.amax(dim=-1))
        total = total * torch.exp(before - largest) + torch.exp(block - largest[..., None]).sum(dim=-1)
    return largest, total


def measure(function, scores: torch.Tensor) -> tuple[float, float]:
    """KiB of the largest tensor made, and the largest relative error of the sum."""
    with Record() as record:
        _, total = function(scores)
    exact = torch.exp(scores.double() - scores.double().amax(dim=-1, keepdim=True)).sum(dim=-1)
    return record.largest / 2**10, float(((total - exact) / exact).abs().max())


if __name__ == "__main__":
    torch.manual_seed(123)
    print("scores in    largest tensor made             largest error of the sum, about")
    print("a row        all at once   in blocks         all at once   in blocks")
    for tokens in TOKENS:
        scores = 3 * torch.randn(ROWS, tokens)
        (whole, whole_error), (part, part_error) = measure(all_at_once, scores), measure(in_blocks, scores)
        print(f"{tokens:>9,} {whole:>10,.0f} KiB {part:>7,.0f} KiB {whole_error:>18.0e} {part_error:>11.0e}")
