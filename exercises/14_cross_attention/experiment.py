"""Where does each place of a German sentence look, once a layer has learnt to translate?

Two languages of a few words: five places ask, four English words are looked at. The layer is trained for a moment on
64 pairs of sentences. It is told the German words, never which word belongs to which.
"""

import torch
from torch.nn import functional as F

PLOT = "cat"
CLAIM = "All 64 sentences come out right, and each place looks at the one English word that decides it."

ENGLISH = ["I", "you", "we", "they", "saw", "heard", "found", "fed", "the", "cat", "dog", "horse", "duck"]
GERMAN = ["ich", "du", "wir", "sie", "habe", "hast", "haben", "gesehen", "gehört", "gefunden", "gefüttert"]
GERMAN += ["die", "den", "das", "Katze", "Hund", "Pferd", "Ente"]
SHOWN, ASKS = ["I", "saw", "the", "cat"], ["ich", "habe", "die", "Katze", "gesehen"]
SIZE, STEPS, RATE = 16, 150, 0.03


def sentences() -> tuple[torch.Tensor, torch.Tensor]:
    """German (64, 5) and English (64, 4) as numbers of words: four subjects, four verbs, four nouns."""
    german, english = [], []
    for who in range(4):
        for verb in range(4):
            for noun in range(4):
                german.append([who, 4 + min(who, 2), (11, 12, 13, 11)[noun], 14 + noun, 7 + verb])
                english.append([who, 4 + verb, 8, 9 + noun])
    return torch.tensor(german), torch.tensor(english)


def translate(model: dict[str, torch.Tensor], english: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits (…, 5, words) and weights (…, 5, T_2): a row for each German place, a column for each English word."""
    words = model["english"][english]  # (…, T_2, SIZE)
    queries, keys = model["place"] @ model["query"], words @ model["key"]
    weights = torch.softmax(queries @ keys.mT / SIZE**0.5, dim=-1)
    context = weights @ (words @ model["value"])
    return (model["place"] + context) @ model["out"], weights


def trained(german: torch.Tensor, english: torch.Tensor) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(8)
    shapes = {"place": (5, SIZE), "english": (len(ENGLISH), SIZE), "out": (SIZE, len(GERMAN))}
    shapes |= dict.fromkeys(("query", "key", "value"), (SIZE, SIZE))
    drawn = {name: torch.randn(shape, generator=generator) / SIZE**0.5 for name, shape in shapes.items()}
    model = {name: tensor.requires_grad_() for name, tensor in drawn.items()}
    optimizer = torch.optim.Adam(model.values(), lr=RATE)
    for _ in range(STEPS):
        loss = F.cross_entropy(translate(model, english)[0].flatten(0, 1), german.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return {name: tensor.detach() for name, tensor in model.items()}


def measure() -> list[dict]:
    torch.set_num_threads(1)
    german, english = sentences()
    model = trained(german, english)
    right = (translate(model, english)[0].argmax(dim=-1) == german).sum(dim=0)  # of 64, for each place
    _, weights = translate(model, torch.tensor([ENGLISH.index(word) for word in SHOWN]))
    rows = []
    for place in range(5):
        looks = {word: round(float(weight), 1) for word, weight in zip(SHOWN, weights[place], strict=True)}
        rows.append({"asks": ASKS[place], **looks, "right of 64": int(right[place])})
    return rows


def claim(rows: list[dict]) -> bool:
    decides = ("I", "I", "cat", "cat", "saw")  # ich, habe, die, Katze, gesehen
    looks = all(row[word] > 0.5 for row, word in zip(rows, decides, strict=True))
    return looks and all(row["right of 64"] == 64 for row in rows)
