"""The figure: the lesson's two rows of three numbers, read by tiles of four lanes."""

from grader.authors import Figure, Start


def data(documented):
    """The exponentials of the two rows, and of what follows the tensor in memory."""
    return {"powers": [[1, 2, 1], [4, 1, 5]], "beyond": [7, 3, 7, 3, 7]}


FIGURE = Figure(
    "A tile of four lanes reads a row of three numbers, and one number of the next row.",
    data,
    {"the right weights": Start("softmax")},
)
