"""Memory of attention with a table of all scores, and of flash attention: the table of the lesson.

    python exercises/31_flash_attention/measure_memory.py [file]

It measures the `flash_attention` of a file, by default the one beside it: yours. Each number comes from a process of
its own: how much larger it was at most, in physical memory, than before the call. The largest one needs 5 GiB.
"""

import importlib.util
import resource
import subprocess
import sys
from pathlib import Path

import torch

TOKENS, SIZE, BLOCK = (1024, 2048, 4096, 8192, 16_384), 32, 256
FILE = Path(__file__).with_name("flash_attention.py")
BAR = 192  # MiB for each block of a bar


def with_a_table(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Attention as in exercise 06."""
    return torch.softmax(query @ keys.mT / SIZE**0.5, dim=-1) @ values


def from_file(path: str):
    """The function flash_attention of a file."""
    spec = importlib.util.spec_from_file_location("flash_attention", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda query, keys, values: module.flash_attention(query, keys, values, block_size=BLOCK)


def growth(attention, tokens: int, backward: bool) -> float:
    """MiB by which this process grows in the call. A small call comes first: torch takes some on its first use."""
    for count in (BLOCK, tokens):
        inputs = [torch.randn(1, 1, count, SIZE, requires_grad=backward) for _ in range(3)]
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        output = attention(*inputs)
        if backward:
            output.sum().backward()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024  # KiB on Linux


def measured(path: str, way: str, tokens: int, backward: bool) -> float:
    command = [sys.executable, __file__, path, way, str(tokens), "backward" * backward]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(123)
    path = sys.argv[1] if len(sys.argv) > 1 else str(FILE)
    if len(sys.argv) > 2:
        way = with_a_table if sys.argv[2] == "table" else from_file(path)
        print(growth(way, int(sys.argv[3]), bool(sys.argv[4])))
        sys.exit()
    print("          forward                 forward and backward")
    print("tokens    flash     with a table  flash     with a table")
    for tokens in TOKENS:
        cells = [[measured(path, way, tokens, back) for way in ("flash", "table")] for back in (False, True)]
        words = "  ".join(f"{flash:>5,.0f} MiB {table:>9,.0f} MiB" for flash, table in cells)
        print(f"{tokens:>6,} {words}  {'█' * round(cells[1][1] / BAR)}".rstrip())
