"""The printed numbers of the source documents, for the sentence "Your journey starts with one step"."""

import torch

from grader.authors import expect, expect_drawn, manual_seed, task
from grader.sentence import inputs

ORDER = ("W_query", "W_key", "W_value")


def drawn():
    """Three (3, 2) matrices of torch.rand, from the state that the generator is in."""
    return {name: torch.rand(3, 2) for name in ORDER}


@task(2)
def test_documented_context_vectors(learner, documented):
    """Seeded with 123, at once or with three draws between, the context vectors match the printed numbers."""
    layer = learner.SelfAttention_v1(3, 2, seed=123)
    manual_seed(123)
    expect_drawn(layer, drawn())
    expect(layer(inputs()), documented["context_vectors"])

    state = torch.get_rng_state()  # the other document drew three matrices before it built its instance
    layer = learner.SelfAttention_v1(3, 2, seed=state)
    torch.set_rng_state(state)
    expect_drawn(layer, drawn())
    expect(layer(inputs()), documented["context_vectors_after_other_draws"])
