"""Where does a head look when it has no work, and what happens when that place is dropped?

Two models of one head read texts in which three of sixteen letters are echoes: then the letter before comes again. Only
there has the head work to do. Texts of one begin with <s>, the other has a learned sink. Trained on 64 tokens, both
read 512. Shown: the loss of the last 32 predictions, and the weight of the first kept token where the head has no work.
"""

import torch
from torch.nn import functional as F

CLAIM = "A window needs the start token, rotated by place; with a learned sink the first token makes no difference."

STATE = torch.load(__file__.replace("experiment.py", "trained.pt"), weights_only=True)
TEXTS, TOKENS, LAST, WINDOW, ECHOES, MARK = 32, 512, 32, 16, 3, 16
ROPE = 10_000.0 ** (-torch.arange(16) / 16)


def drawn(marked: bool) -> torch.Tensor:
    """Texts as in train.py, by the same chances: (TEXTS, TOKENS)."""
    table = torch.softmax(1.5 * torch.randn(16, 16, generator=torch.Generator().manual_seed(0)), dim=-1)
    generator = torch.Generator().manual_seed(32)
    columns = [torch.randint(16, (TEXTS,), generator=generator) for _ in range(2)]
    while len(columns) < TOKENS:
        chosen = torch.multinomial(table[columns[-1]], 1, generator=generator)[:, 0]
        columns.append(torch.where(columns[-1] < ECHOES, columns[-2], chosen))
    text = torch.stack(columns, dim=1)
    return torch.cat([torch.full((TEXTS, 1), MARK), text[:, :-1]], dim=1) if marked else text


def rotated(x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    angles = places[:, None] * ROPE
    one, two = x.chunk(2, dim=-1)
    return torch.cat([one * angles.cos() - two * angles.sin(), two * angles.cos() + one * angles.sin()], dim=-1)


def read(model: str, text: torch.Tensor, kept: torch.Tensor, by_place: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """The logits after the last kept token, (B, V), and its weights: of the kept ones and the learned sink."""
    state = {name.removeprefix(f"{model}."): value for name, value in STATE.items() if name.startswith(model)}
    x = state["embedding"][text[:, kept]]
    places = torch.arange(len(kept)) if by_place else kept
    query, keys = rotated(x[:, -1:] @ state["query"], places[-1:]), rotated(x @ state["key"], places)
    scores = (query @ keys.mT)[:, 0] / 32**0.5
    sink = state["sink"] if "sink" in state else torch.tensor(-torch.inf)
    weights = torch.softmax(torch.cat([scores, sink.expand(len(text), 1)], dim=1), dim=1)
    context = (weights[:, None, :-1] @ (x @ state["value"]))[:, 0] @ state["out"]
    return (x[:, -1] + context) @ state["unembedding"], weights


def look(model: str, sinks: int, window: int, by_place: bool = True, first: int = TOKENS - LAST - 1):
    """The mean loss, and the mean weight of the first kept token where the newest is no echo."""
    text, losses, weights = drawn(model == "marked"), [], []
    for t in range(first, first + LAST):
        places = torch.arange(t + 1)
        kept = places[(places < sinks) | (places > t - window)]
        logits, row = read(model, text, kept, by_place)
        losses.append(F.cross_entropy(logits, text[:, t + 1], reduction="none"))
        weights.append(row[text[:, t] >= ECHOES, 0])
    return float(torch.cat(losses).mean()), float(torch.cat(weights).mean())


def measure() -> list[dict[str, float]]:
    ways = {
        "all, within 64": (0, TOKENS, True, 16),
        "last 16": (0, WINDOW),
        "first, last 16": (1, WINDOW),
        "same, by position": (1, WINDOW, False),
    }
    rows = []
    for name, way in ways.items():
        (marked, weight), (learned, _) = (look(model, *way) for model in ("marked", "learned"))
        rows.append({"kept": name, "start: loss": marked, "on first": weight, "sink: loss": learned})
    return rows


def claim(rows: list[dict[str, float]]) -> bool:
    _, window, first, position = (row["start: loss"] for row in rows)
    return window > position > first + 0.05 and abs(rows[1]["sink: loss"] - rows[2]["sink: loss"]) < 0.01
