"""Asks whether the kernels of a call compile for a GPU: in a worker of its own, which has none and runs no kernel."""

import contextlib
import re
from typing import Any

from grader.judge.compare import Mismatch
from grader.judge.proxy import Learner, Target
from grader.records.syntax import place
from grader.sandbox.call_results import LearnerError
from grader.sandbox.remote import Remote
from grader.worker.compiling import REFUSED, SHORTENED

SAID = re.compile(rf"(\d{{1,6}}) (?:({REFUSED}): (.*)|({SHORTENED}))", re.DOTALL)


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
    worker = remote.compiling()
    try:
        worker.load()
        with contextlib.suppress(Mismatch):
            getattr(Learner(worker), target.name)(*args, **kwargs)
    except LearnerError as error:
        said = SAID.fullmatch(str(error.facts.get("message", "")))
        if said is None or full_float32 != bool(said[4]):  # None: it needs the numbers, which are not there
            return
        line = int(said[1])
        is_there = 0 < line <= learner.source.count("\n") + 1
        where = place(learner.source, line) if is_there else target.name
        if said[4]:
            summary = (
                f"a GPU would shorten a product of float32 in the kernel of {where} to TF32, which has three digits"
            )
            raise NotForAGpu(summary) from None
        summary = f"{where} runs here, but not on a GPU: its compiler refuses the kernel"
        raise NotForAGpu(summary, said[3]) from None
    finally:
        worker.close()
