"""The numbers that the lesson prints: four tokens by hand, their gradients, and the six-word sentence."""

import math

import torch

from grader.authors import expect, task
from grader.sentence import inputs


def four(*numbers: float) -> torch.Tensor:
    """One number for each of the four tokens: (1, 1, 4, 1)."""
    return torch.tensor(numbers).reshape(1, 1, 4, 1)


def by_hand():
    """Queries, keys and values of the lesson: the exponentials of the scores are 2, 4, 1, 8 for every query."""
    return four(1.0, 1.0, 1.0, 1.0), four(2.0, 4.0, 1.0, 8.0).log(), four(6.0, 3.0, 0.0, 9.0)


@task(1)
def test_documented_forward(learner, documented):
    """Your output matches the lesson's, for the four tokens by hand and for the sentence."""
    expect(learner.flash_attention(*by_hand(), 2), four(6.4, 6.4, 6.4, 6.4))
    got = learner.flash_attention(*by_hand(), 2, True)
    expect(got, four(6.0, 4.0, 24 / 7, 6.4))
    expect(got[0, 0, :, 0], documented["by_hand"])
    sentence = inputs()[None, None]
    got = learner.flash_attention(sentence, sentence, sentence, 4, True)
    weights = (inputs() @ inputs().T / 3**0.5).exp().tril()
    expect(got, (weights / weights.sum(dim=-1, keepdim=True) @ inputs())[None, None])
    expect(got[0, 0], documented["sentence"])


@task(2)
def test_documented_backward(learner, documented):
    """Your gradients match the lesson's for the four tokens, where a gradient of 1 reaches every output."""
    output, logsumexp, grad_output = (
        four(6.4, 6.4, 6.4, 6.4),
        torch.full((1, 1, 4), math.log(15)),
        torch.ones(1, 1, 4, 1),
    )
    got = learner.flash_attention_backward(*by_hand(), output, logsumexp, grad_output, 2)
    weights = torch.tensor([2.0, 4.0, 1.0, 8.0]) / 15
    along = weights * (torch.tensor([6.0, 3.0, 0.0, 9.0]) - 6.4)
    query = float(along @ torch.tensor([2.0, 4.0, 1.0, 8.0]).log())
    expect(got, (four(query, query, query, query), four(*(4 * along).tolist()), four(*(4 * weights).tolist())))
    for part, name in zip(got, ("grad_query", "grad_keys", "grad_values"), strict=True):
        expect(part[0, 0, :, 0], documented[name], f"the gradient of {name.removeprefix('grad_')}")
