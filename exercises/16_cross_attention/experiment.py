"""Where does each place of a German sentence look, once a layer has learned to translate?

Two languages of a few words make 64 pairs of sentences. The layer is trained for a moment on 48 of them; the other 16
are new to it. Five places ask, each with a vector of its own that is learned, and four English words are looked at. The
training knows the German words, never which word belongs to which.
"""

from functools import cache

import torch
from torch.nn import functional as F

CLAIM = "All 16 new sentences come out right, and each place looks at the one English word that decides it."

ENGLISH = ["I", "you", "we", "they", "saw", "heard", "found", "fed", "the", "cat", "dog", "horse", "duck"]
GERMAN = ["ich", "du", "wir", "sie", "habe", "hast", "haben", "gesehen", "gehört", "gefunden", "gefüttert"]
GERMAN += ["die", "den", "das", "Katze", "Hund", "Pferd", "Ente"]
SHOWN = ["I", "saw", "the", "cat"]
DECIDES = (0, 0, 3, 3, 1)  # the place of the English word that each German one depends on
SIZE, STEPS, RATE = 16, 150, 0.03


def sentences() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """German (64, 5), English (64, 4), as numbers of words, and which are new: of 4 subjects, 4 verbs, 4 nouns."""
    german, english, new = [], [], []
    for who in range(4):
        for verb in range(4):
            for noun in range(4):
                german.append([who, 4 + min(who, 2), (11, 12, 13, 11)[noun], 14 + noun, 7 + verb])
                english.append([who, 4 + verb, 8, 9 + noun])
                new.append((who + verb + noun) % 4 == 1)  # each word is in 4 of them, and in 12 of the others
    return torch.tensor(german), torch.tensor(english), torch.tensor(new)


def translate(model: dict[str, torch.Tensor], english: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits (…, 5, words) and weights (…, 5, T_2): a row for each German place, a column for each English word."""
    words = model["english"][english]  # (…, T_2, SIZE)
    queries, keys = model["place"] @ model["query"], words @ model["key"]
    weights = torch.softmax(queries @ keys.mT / SIZE**0.5, dim=-1)
    context = weights @ (words @ model["value"])
    return (model["place"] + context) @ model["out"], weights


@cache
def trained() -> dict[str, torch.Tensor]:
    german, english, new = sentences()
    german, english = german[~new], english[~new]
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
    logits, weights = translate(trained(), torch.tensor([ENGLISH.index(word) for word in SHOWN]))
    rows = []
    for said, row in zip(logits.argmax(dim=-1), weights, strict=True):
        looks = {word: round(float(weight), 1) for word, weight in zip(SHOWN, row, strict=True)}
        rows.append({"asks": GERMAN[said], **looks})
    return rows


def claim(rows: list[dict]) -> bool:
    looks = all(row[SHOWN[place]] > 0.5 for row, place in zip(rows, DECIDES, strict=True))
    german, english, new = sentences()
    right = translate(trained(), english[new])[0].argmax(dim=-1) == german[new]
    return looks and bool(right.all())
