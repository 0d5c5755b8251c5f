"""Why a layer adds to the stream and does not replace it: the table of "Why layers add to a stream" in the lesson.

    make experiment EX=14 ARGS="stream your_file.py"

The layers are yours, as they are drawn. After each layer: how different the tokens still are (their distance from the
mean token, as a share of their size), and how much of a gradient reaches the embeddings from there.
"""

import runpy
import sys

import torch

SIZE, HEADS, TOKENS, LAYERS, SHOWN, SEED = 64, 4, 32, 12, (1, 4, 12), 123


def spread(x: torch.Tensor) -> float:
    """How far the tokens (1, T, d) are from their mean, as a share of their size: 0 where all are alike."""
    x = x.detach()
    return float((x - x.mean(dim=1, keepdim=True)).norm() / x.norm())


def walk(layers, start: torch.Tensor, adds: bool) -> list[tuple[float, float]]:
    """After each layer: the spread, and the size of the gradient at the start for one of size 1 at this place."""
    x, found = start, []
    for layer in layers:
        x = x + layer(x) if adds else layer(x)
        direction = torch.randn(x.shape, generator=torch.Generator().manual_seed(SEED))
        (gradient,) = torch.autograd.grad(x, start, direction / direction.norm(), retain_graph=True)
        found.append((spread(x), float(gradient.norm())))
    return found


def main(file: str) -> None:
    layer = runpy.run_path(file)["CausalSelfAttention"]
    torch.manual_seed(SEED)
    layers = [layer(SIZE, HEADS, TOKENS) for _ in range(LAYERS)]
    start = torch.randn(1, TOKENS, SIZE).requires_grad_()
    added, replaced = (walk(layers, start, adds) for adds in (True, False))
    print("          how different tokens are    gradient that gets back")
    print("layers       added    replaced            added    replaced")
    for count in SHOWN:
        (one, gradient), (other, lost) = added[count - 1], replaced[count - 1]
        print(f"{count:6} {one:11.2f} {other:11.2f} {gradient:16.2f} {lost:11.0e}")


if __name__ == "__main__":
    main(sys.argv[1])
