"""Memory of a mask over all tokens, and of sliding window attention, for several lengths.

    python exercises/22_sliding_window_attention/measure_window.py [file]

It measures the `sliding_window_attention` of a file, by default the one beside it: yours. Each number comes from a
process of its own: how much larger it was at most, in physical memory, than before the call. The largest one needs
4 GiB.
"""

import importlib.util
import resource
import subprocess
import sys
from pathlib import Path

import torch

TOKENS, SIZE, WINDOW = (1024, 2048, 4096, 8192, 16_384), 32, 64
FILE = Path(__file__).with_name("sliding_window_attention.py")
BAR = 128  # MiB for each block of a bar


def masked(x: torch.Tensor) -> torch.Tensor:
    """Attention over all tokens, with a mask."""
    positions = torch.arange(len(x))
    distance = positions[:, None] - positions
    scores = (x @ x.T / SIZE**0.5).masked_fill((distance < 0) | (distance >= WINDOW), -torch.inf)
    return torch.softmax(scores, dim=-1) @ x


def from_file(path: str):
    """The function sliding_window_attention of a file, for one sequence and one head."""
    spec = importlib.util.spec_from_file_location("sliding_window_attention", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda x: module.sliding_window_attention(*[x[None, None]] * 3, WINDOW)


def growth(attention, tokens: int) -> float:
    """MiB by which this process grows in the call. A small call comes first: torch takes some on its first use."""
    for count in (4 * WINDOW, tokens):
        x = torch.randn(count, SIZE)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        attention(x)
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024  # KiB on Linux


def measured(path: str, way: str, tokens: int) -> float:
    command = [sys.executable, __file__, path, way, str(tokens)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(123)
    path = sys.argv[1] if len(sys.argv) > 1 else str(FILE)
    if len(sys.argv) > 2:
        print(growth(masked if sys.argv[2] == "masked" else from_file(path), int(sys.argv[3])))
        sys.exit()
    print("tokens    a window's own   a mask over all tokens")
    for tokens in TOKENS:
        window, whole = (measured(path, way, tokens) for way in ("window", "masked"))
        print(f"{tokens:>6,} {window:>9,.0f} MiB {whole:>11,.0f} MiB  {'█' * round(whole / BAR)}".rstrip())
