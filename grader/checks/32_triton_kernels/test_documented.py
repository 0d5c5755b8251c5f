"""The numbers that the lesson prints: two rows, a small product, and the sentence of the first exercises."""

import torch

from grader.authors import expect, gives, task
from grader.sentence import inputs


@task(1)
def test_documented_softmax(learner, documented):
    """The lesson's two rows give its softmax."""
    x = torch.tensor([[1.0, 2.0, 1.0], [4.0, 1.0, 5.0]]).log()
    gives(learner.softmax.launches(x), documented["softmax"])


@task(2)
def test_documented_matmul(learner, documented):
    """The lesson's (2, 3) times (3, 2) gives its product."""
    a, b = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    gives(learner.matmul.launches(a, b, 16), documented["matmul"])


@task(3)
def test_documented_flash(learner, documented):
    """The lesson's sentence, causal, gives its numbers."""
    sentence = torch.nn.functional.pad(inputs(), (0, 13))[None, None]  # (1, 1, 6, 16)
    got = learner.flash_attention.launches(sentence, sentence, sentence, True, 16).result
    weights = (inputs() @ inputs().T / 4).exp().tril()
    expect(got, torch.nn.functional.pad(weights / weights.sum(dim=-1, keepdim=True) @ inputs(), (0, 13))[None, None])
    expect(got[0, 0, :, :3], documented["flash"])
