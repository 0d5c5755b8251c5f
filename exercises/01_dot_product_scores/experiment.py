"""Does a high score mean that two tokens are alike, or that one is long?

    make experiment EX=01

"one" is the token that asks. For each token of the sentence the table shows
how long its row is, the cosine of the angle between it and "one" (1: they
point the same way), and the score, which is the product of both lengths and
the cosine.
"""

import torch

CLAIM = (
    'Both count. "starts" and "journey" score higher with "one" than "one" '
    "does itself, though they point elsewhere: they are longer."
)
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


def measure() -> list[dict[str, float | str]]:
    """One row for each token."""
    query = INPUTS[4]
    rows = []
    for word, token in zip(SENTENCE, INPUTS):
        score = float(token @ query)
        rows.append(
            {
                "token": word,
                "length": float(token.norm()),
                "cosine": score / float(token.norm() * query.norm()),
                "score with one": score,
            }
        )
    return rows


def claim(rows: list[dict[str, float | str]]) -> bool:
    """Compares two tokens with "one" itself."""
    by_token = {row["token"]: row for row in rows}
    one = by_token["one"]
    return all(
        by_token[word]["score with one"] > one["score with one"] and by_token[word]["cosine"] < 0.8 < one["cosine"]
        for word in ("journey", "starts")
    )
