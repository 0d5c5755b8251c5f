"""The figure: the head of the trained model whose texts begin with <s>, and the lesson's ten positions of 20 tokens."""

import torch

from grader.authors import Figure, Start, pack, trained_state

NAMES = "abcdefghijklmnop"
TEXT = "nhpoobobomhnjponanncncnanjfjofn"
SEEN, SINKS, WINDOW, WIDTH = 20, 4, 6, 32


def data(documented):
    """A text of letters behind <s>, and its queries and keys before they are rotated: (T, 32) each."""
    state = trained_state("26_attention_sinks")
    x = state["marked.embedding"][torch.tensor([len(NAMES), *map(NAMES.index, TEXT)])]
    vectors = {"queries": pack(x @ state["marked.query"]), "keys": pack(x @ state["marked.key"])}
    sizes = {"width": WIDTH, "seen": SEEN, "sinks": SINKS, "window": WINDOW}
    return {"tokens": ["<s>", *TEXT], **vectors, **sizes}


FIGURE = Figure(
    "Where the newest of 20 tokens looks, and where it looks once the first token is dropped.",
    data,
    {"kept positions": Start("kept")},
)
