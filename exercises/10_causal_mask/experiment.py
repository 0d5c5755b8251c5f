"""Change the last token and look: which rows move?

    make experiment EX=10

The sentence goes through attention twice: as it is, and with another last
token. For each token the table shows how far its context vector moves, with
the causal mask and without. Queries, keys and values are the tokens.
"""

import torch

CLAIM = "With the mask only the last row moves: no token before it can see the change. Without a mask every row moves."
SENTENCE = ("Your", "journey", "starts", "with", "one", "step")
INPUTS = torch.tensor(
    [
        [0.43, 0.15, 0.89],
        [0.55, 0.87, 0.66],
        [0.57, 0.85, 0.64],
        [0.22, 0.58, 0.33],
        [0.77, 0.25, 0.10],
        [0.05, 0.80, 0.55],
    ]
)


def context(x: torch.Tensor, causal: bool) -> torch.Tensor:
    """Context vectors, (T, d)."""
    scores = x @ x.T / x.shape[1] ** 0.5
    if causal:
        future = torch.ones(scores.shape).triu(1).bool()
        scores = scores.masked_fill(future, -torch.inf)
    return torch.softmax(scores, dim=-1) @ x


def measure() -> list[dict[str, float | str]]:
    """One row for each token."""
    changed = INPUTS.clone()
    changed[-1] = torch.tensor([0.90, 0.10, 0.95])
    moves = [(context(changed, causal) - context(INPUTS, causal)).norm(dim=1) for causal in (True, False)]
    return [
        {"token": word, "moves, masked": masked, "moves, no mask": bare}
        for word, masked, bare in zip(SENTENCE, *(m.tolist() for m in moves))
    ]


def claim(rows: list[dict[str, float | str]]) -> bool:
    """Exactly nothing moves before the last row."""
    *before, last = rows
    still = all(row["moves, masked"] == 0 for row in before)
    everything = all(row["moves, no mask"] > 0.01 for row in rows)
    return still and everything and last["moves, masked"] > 0.01
