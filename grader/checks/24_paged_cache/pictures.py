"""The picture: which slots of the pool each of three sequences reads."""

import torch

from grader.authors import Drawing, expect_shape

BLOCKS, SIZE = 5, 2
TABLES, LENGTHS = [[3, 0, -1], [1, -1, -1], [3, 4, 2]], [3, 2, 5]


def expected(documented):
    weights = torch.zeros(len(LENGTHS), BLOCKS * SIZE)
    for row, (table, length) in enumerate(zip(TABLES, LENGTHS, strict=True)):
        for place in range(length):
            weights[row, table[place // SIZE] * SIZE + place % SIZE] = 1 / length
    return weights


def ask(learner):
    slots = BLOCKS * SIZE
    values = torch.eye(slots).reshape(BLOCKS, SIZE, 1, slots)  # one-hot, so that the output is the weights
    queries, keys = torch.ones(len(LENGTHS), 1, slots), torch.zeros(BLOCKS, SIZE, 1, slots)
    output = learner.paged_attention(queries, keys, values, torch.tensor(TABLES), torch.tensor(LENGTHS))
    expect_shape(output, (len(LENGTHS), 1, slots))
    return output[:, 0]


PICTURES = [
    Drawing(
        "Which slots of the pool each sequence reads",
        expected,
        ask,
        note="All scores are equal. Sequences 0 and 2 share block 3, which has the slots 6 and 7.",
    )
]
