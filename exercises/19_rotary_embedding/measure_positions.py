"""Which ways to say where a token is still work in texts longer than those of the training?

    python exercises/19_rotary_embedding/measure_positions.py

One small layer learns from texts of 16 tokens to name the token before this one. Then it reads texts of 16, 32 and 64
tokens. The table says how many percent of the answers for the last 8 tokens are right; guessing gives 12 %.
"""

import torch
from torch.nn import functional as F

WAYS = {  # a row of the table: how positions are given, and the number of heads
    "nothing": ("nothing", 8),
    "learned": ("learned", 8),
    "waves": ("waves", 8),
    "turned": ("turned", 4),
    "slower": ("slower", 4),  # the same model, read with its second pair at a quarter of its speed
}
TRAINED, READ, LOOKED_AT = 16, (16, 32, 64), 8
WORDS, SIZE = 8, 32
STEPS, BATCH, RATE, SEED = 200, 32, 0.01, 123


def angles(tokens: int, size: int) -> torch.Tensor:
    """The angle of each position and pair, (tokens, size / 2)."""
    return torch.arange(tokens)[:, None] * 10_000.0 ** (-2 * torch.arange(size // 2, dtype=torch.float64) / size)


def waves(tokens: int) -> torch.Tensor:
    """A vector of sines and cosines for each position, (tokens, SIZE)."""
    return torch.cat([angles(tokens, SIZE).sin(), angles(tokens, SIZE).cos()], dim=-1)


def turned(x: torch.Tensor, slower: bool) -> torch.Tensor:
    """Queries or keys (…, T, h), turned as in tasks 1 and 2. slower: the second pair at a quarter of its speed."""
    once, (first, second) = angles(*x.shape[-2:]), x.chunk(2, dim=-1)
    once[:, 1] /= 4 if slower else 1
    both = once.repeat(1, 2)
    return x * both.cos() + torch.cat([-second, first], dim=-1) * both.sin()


def parameters(generator: torch.Generator) -> dict[str, torch.Tensor]:
    shapes = {"word": (WORDS, SIZE), "position": (max(READ), SIZE), "out": (SIZE, WORDS)}
    shapes |= dict.fromkeys(("query", "key", "value"), (SIZE, SIZE))
    drawn = {name: torch.randn(shape, generator=generator, dtype=torch.float64) for name, shape in shapes.items()}
    return {name: (tensor / SIZE**0.5).requires_grad_() for name, tensor in drawn.items()}


def answers(model: dict[str, torch.Tensor], words: torch.Tensor, way: str, heads: int) -> torch.Tensor:
    """Logits, (B, T, WORDS), from words (B, T)."""
    tokens = words.shape[1]
    values = asks = model["word"][words]
    if way == "learned":
        asks = asks + model["position"][:tokens]
    if way == "waves":
        asks = asks + waves(tokens) / SIZE**0.5
    inputs = {"query": asks, "key": asks, "value": values}
    queries, keys, values = ((x @ model[name]).unflatten(-1, (heads, -1)).transpose(1, 2) for name, x in inputs.items())
    if way in ("turned", "slower"):
        queries, keys = (turned(x, way == "slower") for x in (queries, keys))
    scores = queries @ keys.mT / keys.shape[-1] ** 0.5
    future = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
    weights = torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)
    return (weights @ values).transpose(1, 2).flatten(2) @ model["out"]


def right(way: str, heads: int) -> list[float]:
    """Percent of right answers for each length, after training."""
    generator = torch.Generator().manual_seed(SEED)
    model = parameters(generator)
    optimizer = torch.optim.Adam(model.values(), lr=RATE)
    for _ in range(STEPS):
        words = torch.randint(WORDS, (BATCH, TRAINED), generator=generator)
        logits = answers(model, words, way.replace("slower", "turned"), heads)[:, -LOOKED_AT:]
        loss = F.cross_entropy(logits.flatten(0, 1), words[:, -1 - LOOKED_AT : -1].flatten())
        optimizer.zero_grad(), loss.backward(), optimizer.step()
    found = []
    for tokens in READ:
        words = torch.randint(WORDS, (300, tokens), generator=generator)
        said = answers(model, words, way, heads).argmax(dim=-1)[:, -LOOKED_AT:]
        found.append(100 * float((said == words[:, -1 - LOOKED_AT : -1]).double().mean()))
    return found


if __name__ == "__main__":
    torch.set_num_threads(1)
    print("position          the token before")
    print("is given by       16     32     64")
    for name, way in WAYS.items():
        print(f"{name:13}" + "".join(f"{share:7.0f}" for share in right(*way)))
