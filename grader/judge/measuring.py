"""Fixtures that ask a worker of their own: its memory is measured, or it compiles kernels for a GPU."""

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

import torch

from grader.catalog.errors import InfrastructureError
from grader.judge.compare import Mismatch
from grader.judge.messages import is_about_memory
from grader.judge.proxy import Learner, Target, on_cpu
from grader.records.syntax import place
from grader.sandbox.call_results import LearnerError
from grader.sandbox.process import MEBIBYTE, Meter
from grader.sandbox.remote import Remote
from grader.worker.compiling import REFUSED, SHORTENED

SILENT = "this machine does not tell how much memory a process takes: /proc and ps are silent"
BEYOND = 256  # MiB that a worker is given beyond its limit, so that the excess can be measured
# What the compiler said, by submission and by call: two checks ask for the same.
ANSWERS: WeakKeyDictionary[Remote, dict[str, str]] = WeakKeyDictionary()
SAID = re.compile(rf"(\d{{1,6}}) (?:({REFUSED}): (.*)|({SHORTENED}))", re.DOTALL)


class TooMuchMemory(Mismatch):
    """A call took more memory than it may."""


def within_memory(target: Target, *args: Any, mebibytes: int, gradients: bool = False, **kwargs: Any) -> Any:
    """The result of a call (or its gradients) by which the worker has not grown by `mebibytes` MiB or more.

    Where a rule forbids ready-made functions, the worker has none. The growth counts from before the file is loaded, so
    that nothing can be set aside. It is always measured on the CPU. BEYOND it the system gives the worker no more; the
    line that asked is shown then. Raises TooMuchMemory; InfrastructureError where this machine does not tell how much
    memory a process takes.
    """
    learner, worker = target._learner, target._learner._connection
    if not isinstance(worker, Remote):
        raise TypeError("the memory of this process is not measured: ask a worker")
    with worker.measured(mebibytes + BEYOND, learner.rules.get(target.name)) as meter:
        try:
            ask = target.gradients if gradients else target
            result = ask(*args, measured=True, **kwargs)
        except LearnerError as error:
            if is_about_memory(error.facts):
                raise _refused(error, target.name, _growth(meter), mebibytes) from None
            raise
        growth = _growth(meter)
    _judge(growth, mebibytes, f"{target.name} grew by", learner)
    return result


@contextlib.contextmanager
def steady_memory(learner: Learner, what: str, mebibytes: int) -> Iterator[Callable[[], None]]:
    """Within the block another worker answers, which does not hold `mebibytes` MiB more at its end than at `begin()`.

        with steady_memory(learner, "1,000 appends", mebibytes=4) as begin:
            cache = learner.Cache(8)
            cache.append(keys, times=100)  # torch takes some memory on its first use
            begin()
            cache.append(keys, times=1000)

    what: the calls in words. Objects of the block live within it alone. It is always measured on the CPU.
    """
    worker, start = learner._connection, list[int]()
    if not isinstance(worker, Remote):
        raise TypeError("the memory of this process is not measured: ask a worker")
    try:
        with on_cpu(learner), worker.measured(mebibytes + BEYOND) as meter:
            yield lambda: start.append(_now(meter))
            growth = (_now(meter) - start[-1]) / MEBIBYTE
    except LearnerError as error:
        if is_about_memory(error.facts):
            raise TooMuchMemory(f"{what} ask for more memory than there is; {mebibytes} MiB are allowed") from None
        raise
    _judge(max(0, growth), mebibytes, f"{what} grew the process by", learner)


def _judge(growth: float, mebibytes: int, what: str, learner: Learner) -> None:
    """Note how much was taken. Raises TooMuchMemory where it is too much."""
    sentence = f"{what} {growth:,.0f} MiB; {mebibytes} MiB are allowed"
    if growth >= mebibytes:
        raise TooMuchMemory(sentence)
    learner.notes.append(sentence)


def _now(meter: Meter) -> int:
    size = meter.look()
    if size is None:
        raise InfrastructureError(SILENT)
    return size


def _growth(meter: Meter) -> float:
    meter.look()
    if meter.growth is None:
        raise InfrastructureError(SILENT)
    return meter.growth


def _refused(error: LearnerError, name: str, growth: float, mebibytes: int) -> TooMuchMemory:
    """The error of a call that asked for more memory than there is: with its line, and its memory until then."""
    line, _, code = error.frame
    location = f"line {line}" if line else name
    summary = f"{location} asks for more memory than there is; {name} had grown by {growth:,.0f} MiB until then"
    return TooMuchMemory(f"{summary}; {mebibytes} MiB are allowed", f"    {code}" if code else "")


class NotForAGpu(Mismatch):
    """A kernel that runs in the interpreter would not run on a GPU, or not as it should."""


def compiles(target: Target, *args: Any, full_float32: bool = False, **kwargs: Any) -> None:
    """Raise Mismatch where the compiler refuses a kernel that the call launches.

    full_float32: instead, where it shortens a product of float32. A known mistake is not asked: failed_checks.json says
    what came of it. On a GPU the kernels were compiled anyway.
    """
    learner = target._learner
    remote = learner._connection
    if not isinstance(remote, Remote) or learner._device != "cpu":
        return
    answers = ANSWERS.setdefault(remote, {})
    key = repr((target.name, *map(_sizes, args), *((name, _sizes(value)) for name, value in kwargs.items())))
    if key not in answers:
        answers[key] = _said(remote, target.name, args, kwargs)
    said = SAID.fullmatch(answers[key])
    if said is None or full_float32 != bool(said[4]):  # None: it compiles, or it needs the numbers, which are not there
        return
    line = int(said[1])
    is_there = 0 < line <= learner.source.count("\n") + 1
    where = place(learner.source, line) if is_there else target.name
    if said[4]:
        summary = f"a GPU would shorten a product of float32 in the kernel of {where} to TF32, which has three digits"
        raise NotForAGpu(summary)
    summary = f"{where} runs here, but not on a GPU: its compiler refuses the kernel"
    raise NotForAGpu(summary, said[3])


def _said(remote: Remote, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """What the compiler said of the kernels of a call, "" where they compile."""
    worker = remote.compiling()
    try:
        worker.load()
        with contextlib.suppress(Mismatch):
            getattr(Learner(worker), name)(*args, **kwargs)
    except LearnerError as error:
        return str(error.facts.get("message", ""))
    finally:
        worker.close()
    return ""


def _sizes(value: Any) -> Any:
    """All that a kernel is compiled for: of a tensor its dtype, shape and strides."""
    return (value.dtype, value.shape, value.stride()) if isinstance(value, torch.Tensor) else value
