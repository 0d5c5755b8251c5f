"""The numbers that the lesson prints."""

import torch

from grader.authors import expect, expect_shape, task

TWO_HEADS = torch.tensor(
    [[1.0, 0.0], [0.0, 1.0]]
)  # the first looks at the first number of a key, the second at the other
INDEX_KEYS = torch.tensor([[[3.0, 1.0], [-2.0, 4.0], [1.0, -1.0], [2.0, 2.0]]])
SCORES = torch.tensor([[[5.0, -4.0, 2.0, 2.0], [4.0, 4.0, 1.0, 4.0]]])


def inputs() -> list[torch.Tensor]:
    """Four queries that are alike, keys whose powers are 1, 3, 4 and 2, and values of one number."""
    queries, keys = torch.tensor([2.0, 0.0, 0.0, 0.0]).repeat(1, 1, 4, 1), torch.zeros(1, 1, 4, 4)
    keys[0, 0, :, 0] = torch.tensor([1.0, 3.0, 4.0, 2.0]).log()
    return [queries, keys, torch.tensor([8.0, 4.0, 16.0, 2.0]).reshape(1, 1, 4, 1)]


@task(1)
def test_documented_index_scores(learner, documented):
    """Two queries and four keys give the lesson's scores."""
    queries, head_weights = TWO_HEADS.repeat(1, 2, 1, 1), torch.tensor([[[2.0, -1.0], [1.0, 1.0]]])
    got = learner.index_scores(queries, INDEX_KEYS, head_weights)
    expect_shape(got, (1, 2, 4))
    expect(got[0], documented["scores"], "the scores")


@task(2)
def test_documented_top_keys(learner, documented):
    """The lesson's scores select its keys, for queries at positions 2 and 3 and for the same at 0 and 1."""
    for first_query, number in ((2, "selected"), (0, "selected_early")):
        got = learner.top_keys(SCORES, 3, *((first_query,) if first_query else ()))
        expect_shape(got, (1, 2, 3))
        expect(got[0], documented[number], f"the keys of queries at {first_query} and {first_query + 1}")


@task(3)
def test_documented_sparse_attention(learner, documented):
    """Four queries read the lesson's numbers, the third of them nothing."""
    got = learner.sparse_attention(*inputs(), torch.tensor([[[0, 1], [3, -1], [-1, -1], [2, 0]]]))
    expect_shape(got, (1, 1, 4, 1))
    expect(got[0, 0, :, 0], documented["read"], "what the queries read")


@task(4)
def test_documented_indexed_attention(learner, documented):
    """Four tokens that read two keys each give the lesson's numbers."""
    head_weights = torch.tensor([[[2.0, -1.0], [2.0, -1.0], [2.0, -1.0], [1.0, 1.0]]])
    got = learner.indexed_attention(*inputs(), TWO_HEADS.repeat(1, 4, 1, 1), INDEX_KEYS, head_weights, 2)
    expect_shape(got, (1, 1, 4, 1))
    expect(got[0, 0, :, 0], documented["indexed"], "what the tokens read")


@task(5)
def test_documented_coverage(learner, documented):
    """Of two heads' weights, the selected keys cover the lesson's shares."""
    weights = torch.tensor([[0.5, 0.25, 0.125, 0.125], [0.125, 0.125, 0.25, 0.5]])  # of the two heads
    got = learner.coverage(weights[None, :, None].repeat(1, 1, 2, 1), torch.tensor([[[0, 2], [3, -1]]]))
    expect_shape(got, (1, 2, 2))
    expect(got[0], documented["covered"], "the coverage")
