"""How a trained multi-head model becomes a grouped one: which way of merging its heads of keys and values is best?

    python exercises/21_grouped_query_attention/measure_pooling.py

A small layer with 8 heads learns to name the four tokens before the last of eight, each in its place. Its keys and
values are then brought down to 4, 2 or 1 heads in two ways, and trained on for a tenth of the steps. The table says
how many percent of the answers are right before and after that, as the mean of several models. Guessing gives 12 %.
"""

import torch
from torch.nn import functional as F

TOKENS, WORDS, SIZE, HEADS, PLACES = 8, 8, 32, 8, 4
STEPS, MORE, BATCH, RATE, SEEDS = 200, 20, 128, 0.02, range(5)
WAYS = ("mean", "first")
GROUPS = (4, 2, 1)
Model = dict[str, torch.Tensor]


def parameters(generator: torch.Generator) -> Model:
    """A layer with a head of keys and values for each head of queries; embeddings of words and of positions."""
    shapes = {"word": (WORDS, SIZE), "position": (TOKENS, SIZE), "out": (PLACES * WORDS, SIZE)}
    shapes |= dict.fromkeys(("query", "key", "value"), (SIZE, SIZE))
    drawn = {name: torch.randn(shape, generator=generator, dtype=torch.float64) for name, shape in shapes.items()}
    return {name: (tensor / SIZE**0.5).requires_grad_() for name, tensor in drawn.items()}


def answers(model: Model, words: torch.Tensor) -> torch.Tensor:
    """Logits of the last token for the four places, (B, PLACES, WORDS)."""
    h = SIZE // HEADS
    groups = len(model["key"]) // h

    def in_heads(name: str, x: torch.Tensor) -> torch.Tensor:  # (…, HEADS, T, h)
        split = F.linear(x, model[name]).unflatten(-1, (-1, h)).movedim(-2, -3)
        return split if name == "query" else split.repeat_interleave(HEADS // groups, dim=-3)

    queries, keys = in_heads("query", model["position"][-1:]), in_heads("key", model["position"])
    weights = torch.softmax(queries @ keys.mT / h**0.5, dim=-1)  # (HEADS, 1, TOKENS)
    mixed = weights @ in_heads("value", model["word"][words])  # (B, HEADS, 1, h)
    return F.linear(mixed.flatten(1), model["out"]).unflatten(-1, (PLACES, WORDS))


def train(model: Model, steps: int, generator: torch.Generator) -> None:
    optimizer = torch.optim.Adam(model.values(), lr=RATE)
    for _ in range(steps):
        words = torch.randint(WORDS, (BATCH, TOKENS), generator=generator)
        loss = F.cross_entropy(answers(model, words).flatten(0, 1), words[:, -1 - PLACES : -1].flatten())
        optimizer.zero_grad(), loss.backward(), optimizer.step()


def right(model: Model, generator: torch.Generator) -> float:
    """Percent of right answers on fresh words."""
    words = torch.randint(WORDS, (1000, TOKENS), generator=generator)
    with torch.no_grad():
        return 100 * float((answers(model, words).argmax(dim=-1) == words[:, -1 - PLACES : -1]).double().mean())


def merged(weight: torch.Tensor, groups: int, way: str) -> torch.Tensor:
    """The rows of W_key or W_value for `groups` heads: (HEADS · h, SIZE) -> (groups · h, SIZE)."""
    heads = weight.detach().unflatten(0, (groups, HEADS // groups, -1))  # (G, H / G, h, SIZE)
    return (heads.mean(dim=1) if way == "mean" else heads[:, 0]).flatten(0, 1)


def grouped(model: Model, groups: int, way: str) -> Model:
    """A copy of the model with fewer heads of keys and values."""
    copy = {name: tensor.detach().clone() for name, tensor in model.items()}
    copy |= {name: merged(model[name], groups, way) for name in ("key", "value")}
    return {name: tensor.requires_grad_() for name, tensor in copy.items()}


def measured() -> dict[tuple[int, str], tuple[float, float]]:
    """Percent right, just merged and trained on, for each number of groups and each way."""
    found: dict[tuple[int, str], list[tuple[float, float]]] = {}
    for seed in SEEDS:
        generator = torch.Generator().manual_seed(seed)
        train(model := parameters(generator), STEPS, generator)
        found.setdefault((HEADS, "as trained"), []).append((right(model, generator),) * 2)
        for groups in GROUPS:
            for way in WAYS:
                few = grouped(model, groups, way)
                before = right(few, generator)
                train(few, MORE, generator)
                found.setdefault((groups, way), []).append((before, right(few, generator)))
    return {key: tuple(sum(column) / len(SEEDS) for column in zip(*pairs)) for key, pairs in found.items()}


if __name__ == "__main__":
    torch.set_num_threads(1)
    print("heads of keys   way          just merged   trained on")
    for (groups, way), (before, after) in measured().items():
        print(f"{groups:>13}   {way:10} {before:>11.0f} % {after:>10.0f} %")
