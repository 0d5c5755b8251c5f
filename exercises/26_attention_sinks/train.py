"""Trains the two small models of the experiment: what made trained.pt, in less than a minute on one core.

    python exercises/26_attention_sinks/train.py

Sixteen letters follow one another by a table of chances. Three of them, a, b and c, are echoes: after an echo comes the
letter that was before it. So one head has work to do at echoes (look one back), and nothing to say elsewhere. Both
models have one layer with one head, rotated by position. The texts of "marked" begin with <s>; those of "learned" have
no such token, but the head has a learned sink.
"""

from pathlib import Path

import torch
from torch.nn import functional as F

LETTERS, ECHOES, MARK, SIZE = 16, 3, 16, 32  # token 16 is <s>
TOKENS, TEXTS, BATCH, STEPS, RATE = 64, 2048, 16, 1500, 1e-2
FASTER = 10  # the sink is one number, and the way to 3 or 4 is long
FILE = Path(__file__).with_name("trained.pt")


def chances() -> torch.Tensor:
    """How likely each letter (column) is after each (row), (16, 16)."""
    return torch.softmax(1.5 * torch.randn(LETTERS, LETTERS, generator=torch.Generator().manual_seed(0)), dim=-1)


def texts(batch: int, tokens: int, marked: bool, generator: torch.Generator) -> torch.Tensor:
    """Random texts, (batch, tokens)."""
    table = chances()
    columns = [torch.randint(LETTERS, (batch,), generator=generator) for _ in range(2)]
    while len(columns) < tokens:
        drawn = torch.multinomial(table[columns[-1]], 1, generator=generator)[:, 0]
        columns.append(torch.where(columns[-1] < ECHOES, columns[-2], drawn))
    text = torch.stack(columns, dim=1)
    return torch.cat([torch.full((batch, 1), MARK), text[:, : tokens - 1]], dim=1) if marked else text


def rotated(x: torch.Tensor) -> torch.Tensor:
    """x (B, T, h), rotated by position: half-split, base 10,000."""
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[1])[:, None] * 10_000.0 ** (-torch.arange(half) / half)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()], -1)


def logits_of(state: dict[str, torch.Tensor], text: torch.Tensor) -> torch.Tensor:
    """The logits after each token, (B, T, 17)."""
    x = state["embedding"][text]
    queries, keys = (rotated(x @ state[name]) for name in ("query", "key"))
    hidden = torch.ones(text.shape[1], text.shape[1], dtype=torch.bool).triu(1)
    scores = (queries @ keys.mT / SIZE**0.5).masked_fill(hidden, -torch.inf)
    column = state["sink"] if "sink" in state else torch.tensor(-torch.inf)
    weights = torch.softmax(torch.cat([scores, column.expand(*scores.shape[:-1], 1)], dim=-1), dim=-1)[..., :-1]
    return (x + weights @ (x @ state["value"]) @ state["out"]) @ state["unembedding"]


def train(marked: bool) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    shapes = dict.fromkeys(("query", "key", "value", "out"), (SIZE, SIZE))
    shapes |= {"embedding": (LETTERS + 1, SIZE), "unembedding": (SIZE, LETTERS + 1)}
    state = {name: torch.randn(shape, generator=generator) / SIZE**0.5 for name, shape in shapes.items()}
    state |= {} if marked else {"sink": torch.zeros(())}
    for parameter in state.values():
        parameter.requires_grad_()
    rates = {name: RATE * (FASTER if name == "sink" else 1) for name in state}
    groups = [{"params": [state[name]], "lr": rate, "weight_decay": 0.0} for name, rate in rates.items()]
    optimizer = torch.optim.AdamW(groups)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, list(rates.values()), STEPS)
    pool = texts(TEXTS, TOKENS, marked, generator)
    for _ in range(STEPS):
        text = pool[torch.randint(TEXTS, (BATCH,), generator=generator)]
        loss = F.cross_entropy(logits_of(state, text)[:, 2:-1].flatten(0, 1), text[:, 3:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    print(f"{'marked' if marked else 'learned'}: loss of the last step {float(loss.detach()):.3f}")
    return {name: parameter.detach() for name, parameter in state.items()}


if __name__ == "__main__":
    torch.set_num_threads(1)
    both = {"marked": train(True), "learned": train(False)}
    torch.save({f"{name}.{key}": value for name, state in both.items() for key, value in state.items()}, FILE)
