"""What is dropout good for if all training texts have the same shortcut?

In 64 film reviews a star always shows the verdict, and each of eight words fits it in four of five cases. One query
learns to read the verdict from them. Then it reads fresh reviews, in which the star is the toss of a coin. Shown are
the star's attention weight and how many verdicts are right, in per cent, as means over 40 runs.
"""

import torch
from torch.nn import functional as F

CLAIM = "Without dropout the layer trusts the star and not the words; with dropout it learns to read the words too."

RUNS, TRAINING, FRESH, STEPS, RATE = 40, 64, 500, 200, 0.02
WORDS, KINDS, FITS, SIZE = 8, 5, 0.8, 8


def draw(texts: int, star_fits: float, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Reviews (RUNS, texts, 1 + WORDS), the star first, and their verdicts (RUNS, texts): 1 for good and −1 for bad."""
    good = torch.rand(RUNS, texts, 1, generator=generator) < 0.5
    often = torch.tensor([star_fits] + [FITS] * WORDS)
    praises = (torch.rand(RUNS, texts, 1 + WORDS, generator=generator) < often) == good
    kinds = torch.randint(1, 1 + KINDS, praises.shape, generator=generator)
    kinds[..., 0] = 0  # the star is the only one of its kind
    return 2 * kinds + praises, 2.0 * good.squeeze(-1) - 1


def attend(layer: list[torch.Tensor], reviews: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The attention weights of the tokens and their values, single numbers: (RUNS, texts, 1 + WORDS) each."""
    embeddings, query, W_key, W_value = layer
    scores, values = embeddings @ W_key @ query / SIZE**0.5, embeddings @ W_value  # (RUNS, 2 + 2 * KINDS, 1) each
    run = torch.arange(RUNS)[:, None, None]
    return torch.softmax(scores[run, reviews, 0], dim=-1), values[run, reviews, 0]


def train(p: float) -> dict[str, float]:
    """Every run has its own reviews, its own start and its own draws, and they are the same for each p."""
    generator = torch.Generator().manual_seed(123)
    reviews, verdicts = draw(TRAINING, 1.0, generator)
    fresh, fresh_verdicts = draw(FRESH, 0.5, generator)
    shapes = ((2 + 2 * KINDS, SIZE), (SIZE, 1), (SIZE, SIZE), (SIZE, 1))
    layer = [torch.randn(RUNS, *shape, dtype=torch.float64, generator=generator) / SIZE**0.5 for shape in shapes]
    optimizer = torch.optim.Adam([part.requires_grad_() for part in layer], lr=RATE)
    for _ in range(STEPS):
        weights, values = attend(layer, reviews)
        stays = torch.rand(weights.shape, generator=generator) >= p
        answers = (weights * stays / (1 - p) * values).sum(dim=-1)  # above 0 for good
        optimizer.zero_grad()
        F.softplus(-verdicts * answers).mean(dim=-1).sum().backward()
        optimizer.step()
    with torch.no_grad():
        (weights, values), (fresh_weights, fresh_values) = attend(layer, reviews), attend(layer, fresh)
    right = (weights * values).sum(dim=-1) * verdicts > 0
    fresh_right = (fresh_weights * fresh_values).sum(dim=-1) * fresh_verdicts > 0
    shares = {"star's weight": fresh_weights[..., 0], "right, training": right, "right, fresh": fresh_right}
    return {"p": p} | {name: round(100 * float(share.double().mean())) for name, share in shares.items()}


def measure() -> list[dict[str, float]]:
    return [train(p) for p in (0.0, 0.1, 0.3, 0.5)]


def claim(rows: list[dict[str, float]]) -> bool:
    none, *others = rows
    trusts = none["star's weight"] > 60 and none["right, fresh"] < 55
    reads = all(row["star's weight"] < 50 and row["right, fresh"] > 60 for row in others)
    return trusts and reads and all(row["right, training"] > 98 for row in rows)
