"""The figure: the last token of the lesson's example and its two small heads, with eight keys more than there."""

import torch

from grader.authors import Figure, Start

MORE = [[0.0, 1.0], [1.0, 5.0], [-1.0, -2.0], [4.0, 3.0], [1.0, 1.0], [-3.0, 0.0], [5.0, -1.0], [-1.0, 3.0]]


def data(documented):
    """The small heads' queries, (2, 2), twelve keys, the lesson's four first, and the weight of each head."""
    keys = torch.tensor([[3.0, 1.0], [-2.0, 4.0], [1.0, -1.0], [2.0, 2.0], *MORE])
    return {"queries": torch.eye(2), "keys": keys, "weights": [1, 1]}


FIGURE = Figure(
    "The scores of twelve keys, of which the last token reads four.",
    data,
    {"chosen keys": Start("selected", take=lambda positions: positions[1:, :2])},
)
