"""The way of a call from a check to the worker, and the way of its answer back, are five frames each."""

import traceback

import pytest

from grader.catalog import paths
from grader.catalog.exercise import Limits
from grader.judge.proxy import Learner
from grader.records.submission import Submission
from grader.sandbox.call_results import LearnerError
from grader.sandbox.remote import Remote
from grader.worker import framing

SOURCE = """
import os

def right(): return 1
def wrong(): raise ValueError("x")
def endless():
    while True: pass
def ends(): os._exit(3)
def after(x, state): return x + state[0]
"""


@pytest.fixture
def learner(fork_server):
    remote = Remote(fork_server, Submission(SOURCE, "file.py"), "file", Limits())
    yield Learner(remote)
    remote.close()


def below_the_test(stack: traceback.StackSummary) -> list[str]:
    """The functions in a stack from the first one of the grader on, those of libraries among them."""
    is_ours = [frame.filename.startswith(str(paths.GRADER)) for frame in stack]
    return [frame.name for frame in stack[is_ours.index(True) :]]


def test_a_call_takes_five_frames_down(learner, monkeypatch):
    stacks, send_all = [], framing.send_all
    assert learner.right() == 1  # the source is loaded

    def observed(*args):
        stacks.append(below_the_test(traceback.extract_stack())[:-1])
        return send_all(*args)

    monkeypatch.setattr(framing, "send_all", observed)
    assert learner.right() == 1
    assert stacks == [["__call__", "_call", "_exchange", "exchange", "exchange"]]


@pytest.mark.parametrize("name", ["wrong", "endless", "ends", "missing"])
def test_an_exception_takes_five_frames_up_at_most(learner, name):
    with pytest.raises(LearnerError) as raised:
        getattr(learner, name)()
    frames = below_the_test(traceback.extract_tb(raised.value.__traceback__))
    assert frames[:3] == ["__call__", "_call", "_exchange"] and len(frames) <= 5


def test_an_argument_of_the_code_may_be_called_state(learner):
    assert learner.after(1, state=(2,)) == learner.after(1, (2,)) == 3
