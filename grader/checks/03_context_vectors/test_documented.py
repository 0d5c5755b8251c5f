"""The printed numbers of the source document, for the sentence "Your journey starts with one step"."""

from grader.authors import expect, task
from grader.sentence import JOURNEY, inputs


@task(1)
def test_documented_weights_of_one_query(learner, documented):
    """The weights of “journey” match the printed numbers."""
    weights = learner.attention_weights(inputs())
    expect(weights[JOURNEY], documented["weights_of_journey"])
    expect(weights[JOURNEY], documented["weights_of_journey_long"])
    expect(weights[JOURNEY].sum(), documented["sum_of_weights_of_journey"])


@task(1)
def test_documented_attention_weights(learner, documented):
    """The weights of all six tokens match the printed numbers."""
    expect(learner.attention_weights(inputs()), documented["attention_weights"])


@task(1)
def test_documented_row_sums(learner, documented):
    """Every row of the weights sums to 1."""
    weights = learner.attention_weights(inputs())
    expect(weights.sum(dim=-1), documented["row_sums"], "the sum of each row")
    expect(weights[JOURNEY].sum(), documented["row_2_sum"], "the sum of the row of “journey”")


@task(2)
def test_documented_context_vector(learner, documented):
    """The context vector of “journey” matches the printed numbers."""
    tokens = inputs()
    context = learner.context_vector(tokens, JOURNEY)
    expect(tokens, documented["embedded_tokens"], "the table of tokens")  # ours, as the document prints it
    expect(context, documented["context_vector_of_journey"])
    expect(context, documented["context_vector_of_journey_again"])


@task(3)
def test_documented_context_vectors(learner, documented):
    """The context vectors of all six tokens match the printed numbers."""
    expect(learner.context_vectors(inputs()), documented["context_vectors"])
