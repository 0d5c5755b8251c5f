"""What can four heads do that one head of the same total size cannot?

The last of eight tokens has to name the four before it, each in its place. One layer is trained on that for a second,
with one head of 32 numbers and with four of 8. Queries and keys see positions, values see tokens. Guessing would give
1 of 8. A place counts as learned if 19 of 20 answers are right.
"""

import torch
from torch.nn import functional as F

CLAIM = "A linear layer reads all four places from four heads, and not from one."

TOKENS, VOCABULARY, SIZE, PLACES = 8, 8, 32, 4
STEPS, BATCH, RATE, SEED = 200, 128, 0.02, 0
torch.set_num_threads(1)


def parameters(generator: torch.Generator) -> dict[str, torch.Tensor]:
    """Random matrices of one layer, with an embedding of tokens and one of positions."""
    shapes = {"token": (VOCABULARY, SIZE), "position": (TOKENS, SIZE), "out": (SIZE, PLACES * VOCABULARY)}
    shapes |= dict.fromkeys(("query", "key", "value"), (SIZE, SIZE))
    drawn = {name: torch.randn(shape, generator=generator) / SIZE**0.5 for name, shape in shapes.items()}
    return {name: tensor.requires_grad_() for name, tensor in drawn.items()}


def handed_on(model: dict[str, torch.Tensor], tokens: torch.Tensor, heads: int) -> torch.Tensor:
    """What the heads of the last token hand on, side by side, (B, SIZE), from embedded tokens (B, TOKENS, SIZE)."""

    def in_heads(name: str, x: torch.Tensor) -> torch.Tensor:  # (…, heads, T, size of one)
        return (x @ model[name]).unflatten(-1, (heads, -1)).movedim(-2, -3)

    queries, keys = in_heads("query", model["position"][-1:]), in_heads("key", model["position"])
    weights = torch.softmax(queries @ keys.mT / keys.shape[-1] ** 0.5, dim=-1)  # (heads, 1, TOKENS)
    return (weights @ in_heads("value", tokens)).flatten(1)


def answers(model: dict[str, torch.Tensor], tokens: torch.Tensor, heads: int) -> torch.Tensor:
    """Logits for the four places, (B, VOCABULARY, PLACES)."""
    return (handed_on(model, model["token"][tokens], heads) @ model["out"]).unflatten(-1, (VOCABULARY, PLACES))


def right(heads: int) -> torch.Tensor:
    """The share of right answers at each place, (PLACES,), on fresh tokens."""
    generator = torch.Generator().manual_seed(SEED)
    model = parameters(generator)
    optimizer = torch.optim.Adam(model.values(), lr=RATE)
    for _ in range(STEPS):
        tokens = torch.randint(VOCABULARY, (BATCH, TOKENS), generator=generator)
        loss = F.cross_entropy(answers(model, tokens, heads), tokens[:, -1 - PLACES : -1])
        optimizer.zero_grad(), loss.backward(), optimizer.step()
    tokens = torch.randint(VOCABULARY, (1000, TOKENS), generator=generator)
    said = answers(model, tokens, heads).argmax(dim=1)
    return (said == tokens[:, -1 - PLACES : -1]).double().mean(dim=0)


def measure() -> list[dict[str, float]]:
    rows = []
    for heads in (1, 4):
        share = right(heads)
        row = {"heads": heads, "size of one": SIZE // heads, "right of 10": round(10 * float(share.mean()))}
        rows.append(row | {"places learned": int((share > 0.95).sum())})
    return rows


def claim(rows: list[dict[str, float]]) -> bool:
    one, four = rows
    return one["right of 10"] <= 5 and one["places learned"] <= 1 and four["places learned"] == PLACES
