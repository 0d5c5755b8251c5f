"""If a head is removed, do the logits lose only what it wrote, or more?

Two layers of four heads with random weights. Each head in turn adds nothing. Its own part is what it wrote into the
stream, seen through the unembedding; the whole effect is by how much the logits differ from before.
"""

import torch
from torch.nn import functional as F

CLAIM = "A head of the last layer counts only by what it wrote; one of the first layer also through the second."

VOCABULARY, SIZE, TOKENS, LAYERS, HEADS = 12, 32, 10, 2, 4


def parts_of(x: torch.Tensor, layer: torch.Tensor) -> torch.Tensor:
    """What each head of a layer writes, (HEADS, T, SIZE): together they are what the layer adds to x (T, SIZE)."""
    queries, keys, values = ((x @ matrix).unflatten(-1, (HEADS, -1)).transpose(0, 1) for matrix in layer[:3])
    mixed = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
    return mixed @ layer[3].unflatten(0, (HEADS, -1))


def run(x, layers, unembedding, removed=None) -> tuple[torch.Tensor, dict]:
    """The logits (T, VOCABULARY), and what each head wrote. removed: the layer and the head that adds nothing."""
    written = {}
    for number, layer in enumerate(layers):
        for head, part in enumerate(parts_of(x, layer)):
            written[number, head] = part
        x = x + sum(written[number, head] for head in range(HEADS) if (number, head) != removed)
    return x @ unembedding, written


def measure(layer: int = 0) -> list[dict]:
    """Own part and whole effect of each head of one layer."""
    generator = torch.Generator().manual_seed(123)

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, dtype=torch.float64, generator=generator) / SIZE**0.5

    x, layers, unembedding = drawn(TOKENS, SIZE) * 4, drawn(LAYERS, 4, SIZE, SIZE), drawn(SIZE, VOCABULARY)
    logits, written = run(x, layers, unembedding)
    rows = []
    for head in range(HEADS):
        effect = logits - run(x, layers, unembedding, removed=(layer, head))[0]
        own = written[layer, head] @ unembedding
        rows.append({"head": head, "own part": float(own.norm()), "whole effect": float(effect.norm())})
    return rows


def claim(rows: list[dict]) -> bool:
    def differences(rows: list[dict]) -> list[float]:
        return [abs(row["whole effect"] - row["own part"]) for row in rows]

    return min(differences(rows)) > 0.01 and max(differences(measure(layer=1))) < 1e-9
