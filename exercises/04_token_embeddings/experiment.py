"""Do words that are used alike get rows that are alike?

    make experiment EX=04

A table of two numbers for each word, and a linear layer that guesses the next
word from the row of the last one, learn from four short sentences. No two of
the compared words occur in the same sentence.
"""

import torch
from torch.nn import functional as F

CLAIM = "Words that are used alike get rows that point the same way, and words of different use do not."
SENTENCES = ("we eat lunch first", "we eat dessert first", "a short day ends", "a long day ends")
PAIRS = (("lunch", "dessert"), ("short", "long"), ("lunch", "short"))
STEPS = 300


def measure() -> list[dict[str, float | str]]:
    """One row for each pair: the cosine between the two rows, at the start and after training."""
    torch.manual_seed(2)
    words = sorted(set(" ".join(SENTENCES).split()))
    table = torch.nn.Embedding(len(words), 2, dtype=torch.float64)
    guess = torch.nn.Linear(2, len(words), dtype=torch.float64)
    ids = torch.tensor([[words.index(word) for word in sentence.split()] for sentence in SENTENCES])  # (4, 4)
    optimizer = torch.optim.Adam([*table.parameters(), *guess.parameters()], lr=0.05)
    before = table.weight.detach().clone()
    for _ in range(STEPS):
        logits = guess(table(ids[:, :-1]))  # (4, 3, words): what comes after each word but the last
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    rows = []
    for one, other in PAIRS:
        pair = [words.index(one), words.index(other)]
        start, end = (float(F.cosine_similarity(*weight[pair], dim=0)) for weight in (before, table.weight.detach()))
        rows.append({"rows of": f"{one}, {other}", "at the start": start, "after training": end})
    return rows


def claim(rows: list[dict[str, float | str]]) -> bool:
    """Near 1 for the two pairs of words that are used alike, and below 0.5 for the third."""
    *alike, different = (row["after training"] for row in rows)
    return min(alike) > 0.9 and different < 0.5
