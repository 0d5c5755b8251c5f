"""What can four heads do that one head of the same total size cannot?

The last of eight tokens has to name the four before it, each in its place. One layer is trained on that for a second,
with one head of 32 numbers and with four of 8. Queries and keys see positions, values see tokens. Guessing would give
1 of 8. A place counts as learnt where 19 of 20 answers are right.
"""

import torch
from torch.nn import functional as F

PLOT = "places learnt"
CLAIM = "Four heads name all four places; one head mixes them and is wrong more often than right."

TOKENS, VOCABULARY, SIZE, PLACES = 8, 8, 32, 4
STEPS, BATCH, RATE, SEED = 200, 128, 0.02, 0


def parameters(generator: torch.Generator) -> dict[str, torch.Tensor]:
    """Random matrices of one layer, with an embedding of tokens and one of positions."""
    names = ("query", "key", "value")
    shapes = {"token": (VOCABULARY, SIZE), "position": (TOKENS, SIZE), "out": (SIZE, PLACES * VOCABULARY)}
    shapes |= dict.fromkeys(names, (SIZE, SIZE))
    drawn = {name: torch.randn(shape, generator=generator) / SIZE**0.5 for name, shape in shapes.items()}
    return {name: tensor.requires_grad_() for name, tensor in drawn.items()}


def answers(model: dict[str, torch.Tensor], tokens: torch.Tensor, heads: int) -> torch.Tensor:
    """Logits for the four places, (B, VOCABULARY, PLACES)."""

    def in_heads(name: str, x: torch.Tensor) -> torch.Tensor:
        return (x @ model[name]).unflatten(-1, (heads, -1)).movedim(-2, -3)  # (…, heads, T, size of one)

    queries = in_heads("query", model["position"][-1:]).expand(len(tokens), -1, -1, -1)
    keys = in_heads("key", model["position"]).expand(len(tokens), -1, -1, -1)
    mixed = F.scaled_dot_product_attention(queries, keys, in_heads("value", model["token"][tokens]))
    return (mixed.flatten(1) @ model["out"]).unflatten(-1, (VOCABULARY, PLACES))


def right(heads: int) -> torch.Tensor:
    """The share of right answers at each place after training, on fresh tokens."""
    generator = torch.Generator().manual_seed(SEED)
    model = parameters(generator)
    optimizer = torch.optim.Adam(model.values(), lr=RATE)
    for _ in range(STEPS):
        tokens = torch.randint(VOCABULARY, (BATCH, TOKENS), generator=generator)
        loss = F.cross_entropy(answers(model, tokens, heads), tokens[:, -1 - PLACES : -1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    tokens = torch.randint(VOCABULARY, (1000, TOKENS), generator=generator)
    with torch.no_grad():
        said = answers(model, tokens, heads).argmax(dim=1)
    return (said == tokens[:, -1 - PLACES : -1]).double().mean(dim=0)


def measure() -> list[dict[str, float]]:
    torch.set_num_threads(1)
    rows = []
    for heads in (1, 4):
        share = right(heads)
        row = {"heads": heads, "size of one": SIZE // heads, "right of 10": round(10 * float(share.mean()))}
        rows.append(row | {"places learnt": int((share > 0.95).sum())})
    return rows


def claim(rows: list[dict[str, float]]) -> bool:
    one, four = rows
    return one["right of 10"] <= 5 and one["places learnt"] <= 1 and four["places learnt"] == PLACES
