"""The numbers that the lesson prints: the mask, the example by hand, and the six-word sentence."""

import torch

from grader.authors import expect, task
from grader.sentence import inputs


@task(1)
def test_documented_mask(learner, documented):
    """Five tokens and a window of three: your mask matches the lesson."""
    got = learner.sliding_window_mask(5, 3)
    expect(got, torch.ones(5, 5, dtype=torch.bool).tril() & torch.ones(5, 5, dtype=torch.bool).triu(-2))
    expect(got, documented["mask"])


@task(2)
def test_documented_attention(learner, documented):
    """The four tokens by hand and the sentence of six words: your numbers match the lesson."""
    query, keys = torch.ones(1, 1, 4, 1), torch.tensor([1.0, 4.0, 2.0, 1.0]).log().reshape(1, 1, 4, 1)
    values = torch.tensor([6.0, 3.0, 0.0, 9.0]).reshape(1, 1, 4, 1)
    got = learner.sliding_window_attention(query, keys, values, 2)
    expect(got, torch.tensor([6.0, 3.6, 2.0, 3.0]).reshape(1, 1, 4, 1))
    expect(got[0, 0, :, 0], documented["by_hand"])
    sentence = inputs()[None, None]
    got = learner.sliding_window_attention(sentence, sentence, sentence, 3)
    weights = (inputs() @ inputs().T / 3**0.5).exp() * (torch.ones(6, 6).tril() - torch.ones(6, 6).tril(-3))
    expect(got, (weights / weights.sum(dim=-1, keepdim=True) @ inputs())[None, None])
    expect(got[0, 0], documented["sentence"])
