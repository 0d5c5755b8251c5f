"""Why a layer adds to the stream and does not replace it: the table of "Why layers add to a stream" in the lesson.

    make experiment EX=14 ARGS="stream your_file.py"

The layers are yours, as they are drawn. After each layer: how different the tokens still are, as their distance from
the mean token, as a share of their size.
"""

import runpy
import sys

import torch

SIZE, HEADS, TOKENS, LAYERS, SHOWN, SEED = 64, 4, 32, 12, (1, 4, 12), 123


def spread(x: torch.Tensor) -> float:
    """How far the tokens (1, T, d) are from their mean, as a share of their size: 0 where all are alike."""
    return float((x - x.mean(dim=1, keepdim=True)).norm() / x.norm())


def walk(layers, x: torch.Tensor, adds: bool) -> list[float]:
    """The spread after each layer."""
    found = []
    for layer in layers:
        x = x + layer(x) if adds else layer(x)
        found.append(spread(x))
    return found


@torch.no_grad()
def main(file: str) -> None:
    layer = runpy.run_path(file)["CausalSelfAttention"]
    torch.manual_seed(SEED)
    layers = [layer(SIZE, HEADS, TOKENS) for _ in range(LAYERS)]
    start = torch.randn(1, TOKENS, SIZE)
    added, replaced = (walk(layers, start, adds) for adds in (True, False))
    print("layers       added    replaced")
    for count in SHOWN:
        print(f"{count:6} {added[count - 1]:11.2f} {replaced[count - 1]:11.2f}")


if __name__ == "__main__":
    main(sys.argv[1])
