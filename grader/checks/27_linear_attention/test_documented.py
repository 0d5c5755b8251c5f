"""The numbers that the lesson prints: three tokens by hand, three corrections of one place, three pairs in two rows."""

import torch

from grader.authors import expect, task

QUERIES = [[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]]  # their features: (1, 1), (1, 1), (2, 1)
KEYS = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]  # (1, 1), (1, 2), (2, 1)
VALUES = [[10.0], [5.0], [2.0]]


def three() -> list[torch.Tensor]:
    """The three tokens by hand: queries and keys (1, 1, 3, 2), values (1, 1, 3, 1)."""
    return [torch.tensor(rows)[None, None] for rows in (QUERIES, KEYS, VALUES)]


def corrections() -> list[torch.Tensor]:
    """Three tokens that write to the same place of four: queries, keys, values, log decays and betas."""
    key = torch.tensor([1.0, 0.0, 0.0, 0.0]).expand(1, 1, 3, 4).contiguous()
    values = torch.tensor([8.0, 4.0, 7.0]).reshape(1, 1, 3, 1)
    return [2 * key, key, values, torch.tensor([[[1.0, 1.0, 0.5]]]).log(), torch.tensor([[[1.0, 0.5, 0.5]]])]


@task(1)
def test_documented_feature_map(learner, documented):
    """The features of −1, 0 and 2 are the lesson's."""
    got = learner.feature_map(torch.tensor([-1.0, 0.0, 2.0]))
    expect(got, torch.tensor([-1.0, 0.0, 2.0]).clamp(max=0).exp() + torch.tensor([0.0, 0.0, 2.0]))
    expect(got, documented["features"])


@task(2)
def test_documented_linear(learner, documented):
    """The lesson's three tokens give its numbers if every query sees every key."""
    got = learner.linear_attention(*three())
    expect(got, torch.tensor([5.125, 5.125, 5.0]).reshape(1, 1, 3, 1))
    expect(got[0, 0, :, 0], documented["full"])


@task(3)
def test_documented_step(learner, documented):
    """Token by token, the outputs and the state of the lesson's three tokens are the printed numbers."""
    queries, keys, values = three()
    state, outputs = None, []
    for token in range(3):
        answer = learner.linear_step(state, queries[:, :, token], keys[:, :, token], values[:, :, token])
        output, state = answer if isinstance(answer, (tuple, list)) and len(answer) == 2 else (answer, None)
        expect(output, torch.tensor([[[(10.0, 7.0, 5.0)[token]]]]), "the output")
        expect(answer[1:], ((torch.tensor(SUMS[token])[None, None, :, None], torch.tensor([[NORMS[token]]])),))
        outputs.append(output[0, 0, 0])
    expect(torch.stack(outputs), documented["steps"])
    expect(state[0][0, 0, :, 0], documented["sums"])
    expect(state[1][0, 0], documented["normalizer"])


SUMS = ([10.0, 10.0], [15.0, 20.0], [19.0, 22.0])
NORMS = ([1.0, 1.0], [2.0, 3.0], [4.0, 4.0])


@task(4)
def test_documented_causal(learner, documented):
    """The lesson's three tokens in chunks of two give its numbers."""
    got = learner.causal_linear_attention(*three(), 2)
    expect(got, torch.tensor([10.0, 7.0, 5.0]).reshape(1, 1, 3, 1))
    expect(got[0, 0, :, 0], documented["causal"])


@task(5)
def test_documented_delta_step(learner, documented):
    """Three tokens that write to the same place give the lesson's numbers."""
    inputs, state, outputs = corrections(), None, []
    for token in range(3):
        answer = learner.gated_delta_step(state, *(tensor[:, :, token].contiguous() for tensor in inputs))
        held = (8.0, 6.0, 5.0)[token]
        expected = torch.tensor([held, 0.0, 0.0, 0.0]).reshape(1, 1, 4, 1)
        expect(answer, (torch.tensor([[[held]]]), expected))
        state = answer[1]
        outputs.append(answer[0][0, 0, 0])
    expect(torch.stack(outputs), documented["delta"])


@task(6)
def test_documented_delta_rule(learner, documented):
    """The same three tokens in chunks of two, and three pairs in a state of two rows, give the lesson's numbers."""
    answer = learner.gated_delta_rule(*corrections(), 2)
    state = torch.tensor([5.0, 0.0, 0.0, 0.0]).reshape(1, 1, 4, 1)
    expect(answer, (torch.tensor([8.0, 6.0, 5.0]).reshape(1, 1, 3, 1), state))
    expect(answer[0][0, 0, :, 0], documented["rule"])
    keys = torch.tensor([[[[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]]])
    answer = learner.gated_delta_rule(keys, keys, torch.eye(3)[None, None], torch.zeros(1, 1, 3), torch.ones(1, 1, 3))
    state = torch.tensor([[[[0.64, -0.48, 0.6], [-0.48, 0.36, 0.8]]]])
    expect(answer, (torch.eye(3)[None, None] / 2**0.5, state))
    expect(keys[0, 0] @ answer[1][0, 0], documented["read_back"])
