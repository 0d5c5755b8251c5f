"""The printed numbers of the article, for the sentence "Life is short, eat dessert first"."""

import torch

from grader.authors import expect, expect_drawn, manual_seed, task

TOKENS = torch.tensor([0, 4, 5, 2, 1, 3])


@task(2)
def test_documented_context_vectors(learner, documented):
    """Seeded with 123, the context vectors of the sentence match the numbers in the article."""
    manual_seed(123)
    x_1 = torch.nn.Embedding(50_000, 3)(TOKENS).detach()
    expect(x_1, documented["embedded_sentence"], "the embedded sentence")
    manual_seed(123)
    drawn = {"W_query": torch.rand(3, 2), "W_key": torch.rand(3, 2), "W_value": torch.rand(3, 4)}
    x_2 = torch.rand(8, 3)
    layer = learner.CrossAttention(3, 2, 4, seed=123)
    context = layer(x_1, x_2)
    expect_drawn(layer, drawn)
    expect(context, documented["context_vectors"])
