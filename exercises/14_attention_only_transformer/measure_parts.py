"""What a model of attention alone holds, and what it leaves out: the table of the lesson.

    python exercises/14_attention_only_transformer/measure_parts.py

The sizes are those of GPT-2 small: 50,257 tokens, 1,024 positions, 12 layers of 768 numbers. Numbers are counted in
real layers (on the meta device, which holds no values), multiplications by torch's own counter. Biases of linear layers
are left out.
"""

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

VOCABULARY, POSITIONS, LAYERS, SIZE, HEADS = 50_257, 1_024, 12, 768, 12


class Attention(nn.Module):
    """The attention of one layer, without biases."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(SIZE, 3 * SIZE, bias=False), nn.Linear(SIZE, SIZE, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        weights = torch.softmax(q @ k.mT / (SIZE // HEADS) ** 0.5, dim=-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2))


def multiplications(part: nn.Module, x: torch.Tensor) -> int:
    """How many multiplications of matrix products one pass of x takes."""
    with FlopCounterMode(display=False) as counter:
        part(x)
    return counter.get_total_flops() // 2  # torch counts the addition beside each multiplication


def main() -> None:
    with torch.device("meta"):
        ids, x = torch.zeros(1, POSITIONS, dtype=torch.int64), torch.empty(1, POSITIONS, SIZE)
        parts = (
            ("token embedding", 1, nn.Embedding(VOCABULARY, SIZE), ids),
            ("position embedding", 1, nn.Embedding(POSITIONS, SIZE), ids),
            ("attention, 12 layers", LAYERS, Attention(), x),
            ("unembedding", 1, nn.Linear(SIZE, VOCABULARY, bias=False), x),
            (
                "left out: MLP, 12 layers",
                LAYERS,
                nn.Sequential(nn.Linear(SIZE, 4 * SIZE, bias=False), nn.Linear(4 * SIZE, SIZE, bias=False)),
                x,
            ),
            ("left out: LayerNorm, 25", 25, nn.LayerNorm(SIZE), x),
        )
    print("                           numbers in it    multiplications for 1,024 tokens")
    for name, count, part, given in parts:
        numbers = count * sum(p.numel() for p in part.parameters())
        print(f"{name:25} {numbers:>14,} {count * multiplications(part, given) / 1e9:>20.1f} billion")


if __name__ == "__main__":
    main()
