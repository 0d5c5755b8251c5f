"""How much of what real heads look at lies on k keys, and who can choose them?

The six heads are those of layer 1 in the model of exercise 33, and read eight of its stories that nothing here was
fitted to. Shown, in percent: the share of their weights that lies on k keys, for the tokens 128 to 191. In "each its
own" every head has k keys for itself. In all other columns the heads share them: the largest weights in sum; what an
indexer chooses that train.py has fitted to this sum on other stories; the last k.
"""

import torch

CLAIM = "Up to 64 keys the indexer covers more than 9/10 of what the best shared choice does, and beats the last k."

STATE = {
    name: tensor.float()
    for name, tensor in torch.load(__file__.replace("experiment.py", "trained.pt"), weights_only=True).items()
}
HEADS, GROUPS, SIZE, FROM, COUNTS = 6, 2, 16, 128, (4, 8, 16, 32, 64)


def rotated(x: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    """Queries or keys with their positions, (B, heads, T, 16)."""
    x = (x @ matrix).unflatten(-1, (-1, SIZE)).transpose(1, 2)
    angles = torch.arange(x.shape[-2])[:, None] * 10_000.0 ** -(torch.arange(SIZE // 2) / (SIZE // 2))
    one, two = x.chunk(2, dim=-1)
    return torch.cat([one * angles.cos() - two * angles.sin(), two * angles.cos() + one * angles.sin()], dim=-1)


def covered(weights: torch.Tensor, scores: torch.Tensor, k: int) -> float:
    """Percent of the weights (B, H, T, T) on the k keys that score highest, (B, T, T) or for each head (B, H, T, T)."""
    shared = scores if scores.dim() == 4 else scores[:, None].expand_as(weights)
    return 100 * float(weights.gather(-1, shared.topk(k, dim=-1).indices)[:, :, FROM:].sum(dim=-1).mean())


def measure() -> list[dict[str, float]]:
    x = STATE["inputs"]
    hidden = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
    queries, keys = (rotated(x, STATE[f"heads.{name}"].mT) for name in ("query", "key"))
    keys = keys.repeat_interleave(HEADS // GROUPS, dim=1)
    weights = torch.softmax((queries @ keys.mT / SIZE**0.5).masked_fill(hidden, -torch.inf), dim=-1)

    queries, keys = (rotated(x, STATE[f"indexer.{name}"]) for name in ("query", "key"))
    of_heads = torch.relu(queries @ keys.mT)  # (B, I, T, T)
    positions = torch.arange(x.shape[1]).double()
    choices = {
        "each its own": weights,
        "best shared": weights.sum(dim=1),
        "indexer": ((x @ STATE["indexer.weight"]).mT[..., None] * of_heads).sum(dim=1),
        "recent": positions.expand(len(x), len(positions), -1),
    }
    visible = {name: scores.masked_fill(hidden, -torch.inf) for name, scores in choices.items()}
    return [{"k": k} | {name: round(covered(weights, visible[name], k), 1) for name in choices} for k in COUNTS]


def claim(rows: list[dict[str, float]]) -> bool:
    return all(0.9 * row["best shared"] < row["indexer"] > row["recent"] for row in rows)
