"""The printed numbers of the source document, for the sentence "Your journey starts with one step"."""

from grader.authors import expect, task
from grader.sentence import JOURNEY, inputs


@task(1)
def test_documented_dot_product(learner, documented):
    """The dot product of “Your” and “journey” is the printed 0.9544."""
    tokens = inputs()
    score = learner.dot_product(tokens[0], tokens[JOURNEY])
    expect(score, documented["score_by_loop"])
    expect(score, documented["score_by_dot"])
    expect(score, documented["score_by_hand"])


@task(2)
def test_documented_scores_for_query(learner, documented):
    """The six scores of “journey” match the printed numbers."""
    tokens = inputs()
    expect(learner.attention_scores_for_query(tokens, tokens[JOURNEY]), documented["scores_of_journey"])


@task(3)
def test_documented_attention_scores(learner, documented):
    """The scores of all six tokens with one another match the printed numbers."""
    scores = learner.attention_scores(inputs())
    expect(scores, documented["attention_scores_by_loops"])
    expect(scores, documented["attention_scores_by_product"])
