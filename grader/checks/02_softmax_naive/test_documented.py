"""The printed numbers of the source document, for the scores of "Your journey starts with one step"."""

from grader.authors import expect, task
from grader.sentence import JOURNEY, inputs


def scores():
    """The scores of every token with every token: (6, 6)."""
    return inputs() @ inputs().T


@task(1)
def test_documented_normalize_by_sum(learner, documented):
    """The scores of “journey” over their sum are the printed weights, and sum to 1."""
    weights = learner.normalize_by_sum(scores()[JOURNEY])
    expect(weights, documented["normalized_scores"])
    expect(weights.sum(), documented["normalized_sum"], "the sum of the weights")


@task(2)
def test_documented_softmax_naive(learner, documented):
    """softmax_naive gives the printed weights of “journey”, and they sum to 1."""
    weights = learner.softmax_naive(scores()[JOURNEY])
    expect(weights, documented["naive_weights"])
    expect(weights.sum(), documented["naive_sum"], "the sum of the weights")


@task(3)
def test_documented_softmax_stable(learner, documented):
    """softmax_stable gives the printed weights of “journey”, and of all six tokens row by row."""
    weights = learner.softmax_stable(scores()[JOURNEY], 0)
    expect(weights, documented["stable_weights"])
    expect(weights.sum(), documented["stable_sum"], "the sum of the weights")
    weights = learner.softmax_stable(scores(), -1)
    expect(weights, documented["stable_weights_of_all"])
    expect(weights.sum(dim=-1), documented["stable_row_sums"], "the sum of each row")
