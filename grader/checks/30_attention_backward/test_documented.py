"""The numbers that the lesson prints: softmax's gradient on three numbers, three tokens by hand, and a mean loss."""

import torch

from grader.authors import expect, expect_shape, task

LOG_2 = 0.6931471805599453


def tokens(*numbers: float) -> torch.Tensor:
    """Three tokens of four numbers, of which the first alone is not 0: (1, 1, 3, 4)."""
    return torch.nn.functional.pad(torch.tensor(numbers)[:, None], (0, 3))[None, None]


def by_hand() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Queries, keys and values of the lesson: over √4 the scores are log 2, 0, 0 for every query."""
    return tokens(2.0, 2.0, 2.0), tokens(LOG_2, 0.0, 0.0), tokens(1.0, 2.0, 6.0)


def causal_weights() -> torch.Tensor:
    return torch.tensor([[1, 0, 0], [2 / 3, 1 / 3, 0], [0.5, 0.25, 0.25]])[None, None]


@task(1)
def test_documented_softmax(learner, documented):
    """Three numbers: your gradient of the scores matches the lesson."""
    got = learner.softmax_backward(torch.tensor([0.5, 0.25, 0.25]), torch.tensor([1.0, 2.0, 6.0]))
    expect(got, torch.tensor([-0.75, -0.125, 0.875]))
    expect(got, documented["three_numbers"])


@task(2)
def test_documented_forward(learner, documented):
    """Three tokens: your context vectors and causal weights match the lesson."""
    got = learner.attention_forward(*by_hand(), True)
    expect(got, (tokens(1.0, 4 / 3, 2.5), causal_weights()))
    expect(got[1][0, 0], documented["weights"], "the weights")


@task(3)
def test_documented_backward(learner, documented):
    """Three tokens: your gradients of queries, keys and values match the lesson."""
    got = learner.attention_backward(*by_hand(), causal_weights(), tokens(1.0, 1.0, 1.0))
    expect(len(got) if isinstance(got, (tuple, list)) else got, 3, "the number of gradients")
    for part, name in zip(got, ("grad_queries", "grad_keys", "grad_values"), strict=True):
        expect_shape(part, (1, 1, 3, 4), f"the gradient of {name.removeprefix('grad_')}")
        expect(part[0, 0, :, 0], documented[name], f"the gradient of {name.removeprefix('grad_')}")


@task(4)
def test_documented_row_products(learner, documented):
    """Three tokens: one number for each query, as in the lesson."""
    got = learner.row_products(tokens(1.0, 4 / 3, 2.5), tokens(1.0, 1.0, 1.0))
    expect(got, torch.tensor([[[1.0, 4 / 3, 2.5]]]))
    expect(got[0, 0], documented["row_products"])


@task(5)
def test_documented_cross_entropy(learner, documented):
    """Three predictions, one of them ignored: your gradient matches the lesson."""
    logits = torch.tensor([[2.0, 1.0, 1.0], [1.0, 5.0, 1.0], [1.0, 1.0, 2.0]]).log()
    got = learner.cross_entropy_backward(logits, torch.tensor([2, -100, 2]))
    expect(got, torch.tensor([[0.25, 0.125, -0.375], [0.0, 0.0, 0.0], [0.125, 0.125, -0.25]]))
    expect(got, documented["cross_entropy"])


@task(6)
def test_documented_function(learner, documented):
    """AttentionFunction gives the lesson's context vectors."""
    got = learner.AttentionFunction.static("apply")(*by_hand(), True)
    expect(got, tokens(1.0, 4 / 3, 2.5))
    expect(got[0, 0, :, 0], documented["function"])
