"""The figure: the sentence as queries, keys and values, in blocks of four, whose output the lesson prints."""

from grader.authors import Curves, Figure, Start, in_bytes
from grader.sentence import TOKENS, inputs


def data(documented):
    """The embedded tokens; the figure computes the rest."""
    return {"inputs": inputs(), "tokens": TOKENS, "block": 4}


def memory():
    """The bytes of a tile of 256 by 256 scores in float32, and of all T by T, over T."""
    wide, lengths = 256, [2**power for power in range(8, 17)]
    curves = {
        f"a tile of {wide} × {wide}": [wide * wide * 4] * len(lengths),
        "all T × T scores": [length * length * 4 for length in lengths],
    }
    axes = {"x_label": "tokens T", "at": 2**14, "log": True, "log_x": True, "base": 32, "tick": in_bytes}
    return [Curves("Memory for scores over T", lengths, curves, **axes)]


FIGURE = Figure(
    "The output of all tiles, and the memory that scores need.",
    data,
    {"output": Start("sentence", rows=TOKENS)},
    memory,
)
