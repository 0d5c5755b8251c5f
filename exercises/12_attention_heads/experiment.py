"""What does the output layer spare: can heads side by side say how two tokens differ?

Three tokens: two have four random numbers each, and the third one must find their difference. It looks for it with one
layer or two of two heads, each layer with an output layer or without one. A layer adds its output to its input.
"""

import torch
from torch import nn
from torch.nn import functional as F

CLAIM = "With an output layer one layer finds the difference; without it two layers are needed."

CONTENT, EMBED_DIM, HEADS, STEPS = 4, 16, 2, 250


class Layer(nn.Module):
    """Two heads side by side, and perhaps an output layer; (B, T, EMBED_DIM) → the same."""

    def __init__(self, mixed: bool):
        super().__init__()
        self.qkv = nn.Linear(EMBED_DIM, 3 * EMBED_DIM, bias=False)
        self.output_linear = nn.Linear(EMBED_DIM, EMBED_DIM) if mixed else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.qkv(x).chunk(3, dim=-1)
        heads = [part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in parts]  # (B, H, T, head_size) each
        return x + self.output_linear(F.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2))


def draw(batch: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens (B, 3, EMBED_DIM): four numbers, the place as a one-hot row, zeros. And the answers (B, CONTENT)."""
    x = torch.zeros(batch, 3, EMBED_DIM, dtype=torch.float64)
    x[:, :2, :CONTENT] = torch.randn(batch, 2, CONTENT, dtype=torch.float64)
    x[:, :, CONTENT : CONTENT + 3] = torch.eye(3)
    return x, x[:, 0, :CONTENT] - x[:, 1, :CONTENT]


def missed(layers: int, mixed: bool) -> float:
    """The share of the answer that is missing after training: 1 if the model always says 0, and 0 if it is right."""
    torch.manual_seed(123)
    model = nn.Sequential(*(Layer(mixed) for _ in range(layers))).double()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(STEPS):
        x, answer = draw(64)
        error = (model(x)[:, 2, -CONTENT:] - answer).square().mean()
        optimizer.zero_grad()
        error.backward()
        optimizer.step()
    x, answer = draw(2000)
    return float((model(x)[:, 2, -CONTENT:] - answer).square().mean().detach() / answer.square().mean())


def measure() -> list[dict]:
    rows = []
    for layers, mixed in ((1, True), (1, False), (2, False)):
        rows.append({"layers": layers, "output layer": "yes" if mixed else "no", "missed": missed(layers, mixed)})
    return rows


def claim(rows: list[dict]) -> bool:
    one_mixed, one, two = (row["missed"] for row in rows)
    return max(one_mixed, two) < 0.05 and one > 0.4
