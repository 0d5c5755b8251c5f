"""Takes pictures: asks the learner's code for its matrices and puts them beside the expected ones."""

import functools
import runpy
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch

from grader.catalog import Exercise, documented, paths
from grader.catalog.errors import InfrastructureError
from grader.judge import messages
from grader.judge.compare import expect_shape
from grader.judge.pictures import Drawing, Picture
from grader.judge.proxy import Learner
from grader.records.sanitize import inert
from grader.records.submission import Submission
from grader.sandbox.call_results import LearnerError
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.remote import Remote

CALL_S = 2.0  # a picture is not worth a longer wait


@dataclass(frozen=True)
class Setup:
    """A drawing with its truth worked out: (heads, rows, columns), one head where `panels` is False."""

    drawing: Drawing
    expected: torch.Tensor
    panels: bool


def take(exercise: Exercise, learner: Learner) -> tuple[Picture, ...]:
    """The pictures of an exercise. Whatever the learner's code does, they come: raises InfrastructureError alone.

    Its worker must have seen nothing hidden: what a learner's code remembers, its picture can show.
    """
    torch.set_num_threads(1)  # tiny tensors; threads would only wait for each other
    pictures: list[Picture] = []
    for setup in setups(exercise.folder):
        heads, note = _asked(setup, learner)
        pictures += _panels(setup, heads, note or setup.drawing.note)
    return tuple(pictures)


def capture_pictures(
    exercise: Exercise, submission: Submission, fork_server: ForkServer, loaded: Remote | None = None
) -> tuple[Picture, ...]:
    """The same for a submission, in the worker that has loaded it, or in a fresh one."""
    if not setups(exercise.folder):
        return ()
    if loaded is not None and loaded.is_alive:
        return take(exercise, Learner(loaded))
    limits = replace(exercise.limits, call_s=min(CALL_S, exercise.limits.call_s))
    remote = Remote(fork_server, submission, exercise.slug, limits)
    remote.hung |= loaded.hung if loaded is not None else {}
    try:
        remote.load()
        return take(exercise, Learner(remote))
    except LearnerError as error:  # the file does not even load
        return blank(exercise, messages.learner_error(error, submission))
    finally:
        remote.close()


def blank(exercise: Exercise, note: str) -> tuple[Picture, ...]:
    """The expected pictures alone, with the reason why there are no others."""
    return tuple(picture for setup in setups(exercise.folder) for picture in _panels(setup, None, inert(note)))


@functools.cache
def setups(folder: str) -> tuple[Setup, ...]:
    """The drawings of an exercise with their truth; none where it has no pictures.py."""
    path = paths.pictures(folder)
    if not path.exists():
        return ()
    printed = {number.id: number.data.value for number in documented.numbers(folder)}
    setups = []
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        for drawing in runpy.run_path(str(path))["PICTURES"]:
            expected = drawing.expected(printed).double()
            panels = expected.ndim == 3
            setups.append(Setup(drawing, expected if panels else expected[None], panels))
    return tuple(setups)


def _asked(setup: Setup, learner: Learner) -> tuple[torch.Tensor | None, str]:
    """The learner's matrices, or None and why not."""
    shape = setup.expected.shape if setup.panels else setup.expected.shape[1:]
    calls = len(learner.calls)
    try:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            answer = setup.drawing.ask(learner)
            expect_shape(answer, tuple(shape), "the result")
            return answer.double().reshape(setup.expected.shape), ""
    except InfrastructureError:
        raise
    except Exception as error:  # a computation with any kind of answer may fail
        call = learner.calls[-1] if len(learner.calls) > calls else None
        if isinstance(error, (LearnerError, AssertionError)):
            submission = getattr(learner._connection, "submission", None) or Submission(learner.source, "the file")
            return None, inert(messages.failure(error, call, submission))
        call_line = f"\ncalled   {call.text}" if call else ""
        return None, inert(f"the result cannot be used as the lesson says{call_line}")


def _panels(setup: Setup, heads: torch.Tensor | None, note: str) -> Iterator[Picture]:
    drawing = setup.drawing
    for number, expected in enumerate(setup.expected):
        yield Picture(
            title=f"{drawing.title}, head {number}" if setup.panels else drawing.title,
            rows=_labels(drawing.rows, expected.shape[0]),
            columns=_labels(drawing.columns, expected.shape[1]),
            learner=None if heads is None else tuple(map(tuple, heads[number].tolist())),
            expected=tuple(map(tuple, expected.tolist())),
            note=note,
        )


def _labels(words: tuple[str, ...], count: int) -> tuple[str, ...]:
    """The words, or numbers where the matrix has another size than the sentence."""
    return words if len(words) == count else tuple(str(number) for number in range(count))
