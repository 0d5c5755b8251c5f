"""Tensors that several calls share, the length of an object, and calls whose memory does not grow."""

import pytest
import torch

from grader.authors import held_tensor
from grader.catalog.exercise import Limits
from grader.judge.measuring import TooMuchMemory, steady_memory
from grader.judge.proxy import Learner
from grader.records.submission import Submission
from grader.sandbox.call_results import LearnerError
from grader.sandbox.local import Local
from grader.sandbox.remote import Remote

SOURCE = """
import torch

class Pile:
    def __init__(self, most):
        self.most, self.parts = most, []
    def __len__(self):
        return sum(len(part) for part in self.parts)
    def put(self, part):
        self.parts = [*self.parts, part][-self.most:]

class Endless(Pile):
    def put(self, part):
        self.parts.append(part)

class Countless:
    pass

class Half:
    def __len__(self):
        return 0.5

def weighted(pile, weight):
    return torch.cat(pile.parts) * weight
"""


@pytest.fixture
def remote(fork_server):
    connection = Remote(fork_server, Submission(SOURCE, "pile.py"), "pile", Limits())
    yield Learner(connection)
    connection.close()


@pytest.fixture(params=["local", "remote"])
def learner(request):
    is_local = request.param == "local"
    return Learner(Local(SOURCE, "pile.py", "pile")) if is_local else request.getfixturevalue("remote")


def test_a_held_tensor_is_the_same_in_each_call(learner):
    pile, part = learner.Pile(3), held_tensor(learner, torch.ones(2))
    pile.put(part)
    pile.put(part)
    part.mul_(3)
    assert torch.equal(part.read(), torch.full((2,), 3.0))
    assert torch.equal(learner.weighted(pile, 2.0), torch.full((4,), 6.0))


def test_gradients_of_several_calls_reach_a_held_tensor(learner):
    pile, part = learner.Pile(3), held_tensor(learner, torch.ones(2).requires_grad_())
    pile.put(part)
    pile.put(part)
    learner.weighted(pile, torch.tensor([1.0, 2.0, 3.0, 4.0]), kept=True).sum(kept=True).backward()
    assert torch.equal(part.grad.read(), torch.tensor([4.0, 6.0]))


def test_the_length_of_an_object(learner):
    pile = learner.Pile(3)
    assert len(pile) == 0 and pile
    pile.put(torch.ones(2))
    assert len(pile) == 2
    assert learner.calls[-1].text == "len(Pile(3))"
    with pytest.raises(LearnerError) as missing:
        len(learner.Countless())
    assert missing.value.kind == "missing" and missing.value.facts["missing"] == "Countless.__len__"
    with pytest.raises(LearnerError) as raised:
        len(learner.Half())
    assert raised.value.facts["type"] == "TypeError"


def test_a_call_is_made_many_times_with_new_copies(learner):
    pile = learner.Pile(5)
    pile.put(torch.ones(2), times=4)
    pile.parts.read(kept=True).pop(0, kept=True).zero_()
    assert torch.equal(learner.weighted(pile, 1.0), torch.ones(6))


def test_what_calls_leave_behind_is_measured(remote):
    part = torch.ones(1 << 16)  # 256 KiB
    with steady_memory(remote, "40 puts", mebibytes=4) as begin:
        pile = remote.Pile(3)
        pile.put(part, times=5)
        begin()
        pile.put(part, times=40)
    assert remote.notes[-1].startswith("40 puts grew the process by")
    too_much = pytest.raises(TooMuchMemory, match=r"40 puts grew the process by 1\d MiB; 4 MiB are allowed")
    with too_much, steady_memory(remote, "40 puts", mebibytes=4) as begin:
        pile = remote.Endless(3)
        pile.put(part, times=5)
        begin()
        pile.put(part, times=40)
