"""Sentences on code that no known mistake explains. Each is given only after a trial has confirmed it."""

import ctypes
import re
from collections.abc import Callable

import torch

from grader.catalog import paths
from grader.judge.collection import Check
from grader.judge.failure import Failure
from grader.judge.likeness import differ
from grader.judge.mismatch import Mismatch
from grader.judge.patterns import is_finite
from grader.judge.proxy import Learner
from grader.judge.session import Session
from grader.records.seeds import part
from grader.sandbox.call_results import Call, LearnerError
from grader.sandbox.local import Local
from grader.sandbox.remote import Remote
from grader.worker import protocol
from grader.worker.codec import DTYPES
from grader.worker.protocol import Reply, Request
from grader.worker.wire import RawTensor

SIZES = (
    "Right for the sizes of the documented example, with other values too, but wrong for the sizes of this call: "
    "is a size written into the code, or does a size of 1 hide something?"
)
FIXED = "Right for the sizes of the documented example, but not in shape for these: is a size written into the code?"
UNWRITTEN = "Asked anew, this call gives other numbers, and torch.empty is called: is each of its entries written?"
BY_HEART = "The documented numbers come back whatever the values are: compute them from the arguments."
STATE = "Asked before all others, this call gives another answer: does the code keep something of an earlier call?"
SEEDS = (1, 2)  # of two other sets of values
FLOATS = {name for name, dtype in DTYPES.items() if dtype.is_floating_point}
EMPTY = re.compile(r"\b(new_)?empty(_like)?\(")
ODD = ("float64", "bfloat16", "float16", "non-contiguous")  # a call with these may fail for their sake


class Varied(Local):
    """A connection whose calls get other values in every float argument, none of them large. Signs and zeros stay."""

    def __init__(self, connection: Remote | Local, seed: int):
        self.connection, self.seed, self.changed = connection, seed, 0
        self.source, self.words = connection.source, connection.words

    def exchange(self, request: Request, tensors: list[RawTensor], function: str = "") -> tuple[Reply, list[RawTensor]]:
        """The reply to one request, whose tensors are varied first."""
        if isinstance(request, protocol.Call):
            tensors = [self.other(raw) if raw.dtype in FLOATS and len(raw.data) else raw for raw in tensors]
        return self.connection.exchange(request, tensors, function)

    def other(self, raw: RawTensor) -> RawTensor:
        """The tensor with other values."""
        self.changed += 1
        values = torch.frombuffer(bytearray(raw.data), dtype=DTYPES[raw.dtype]).float()
        factors = 0.5 + torch.rand(len(values), generator=torch.Generator().manual_seed(self.seed))
        largest = values[values.isfinite()].abs().max() if values.isfinite().any() else torch.ones(())
        values = (values * factors / largest.clamp(min=1.0)).to(DTYPES[raw.dtype])
        return raw._replace(data=ctypes.string_at(values.data_ptr(), values.nbytes))


class Trials:
    """Tries out the code of one submission. subject: the proxy before it; passed: the checks that it passed."""

    def __init__(self, session: Session, subject: Learner, connection: Remote, passed: set[str]):
        self.session, self.subject, self.connection, self.passed = session, subject, connection, passed
        self.solution = Local.load(paths.solution(session.exercise.folder), session.exercise.slug)

    def sentence(self, failure: Failure) -> str | None:
        """The first sentence on the failed check that a trial confirms, or None."""
        connection = self.connection
        connection.drop_ahead()
        output = connection.output
        tests: list[tuple[Callable[[Failure], bool], str]] = [(self.keeps_state, STATE)]
        error = failure.error
        if failure.calls[-1].want == "output" and (not isinstance(error, Mismatch) or is_finite(error.got)):
            tests += [(self.knows_by_heart, BY_HEART)] if isinstance(error, Mismatch) else []
            tests += [(self.depends_on_sizes, SIZES), (self.has_fixed_shape, FIXED)]
        if EMPTY.search(self.subject.source):  # what is left in memory is no state of the code's
            tests = [*tests[1:], (self.keeps_state, UNWRITTEN)]
        try:
            return next((sentence for test, sentence in tests if test(failure)), None)
        finally:
            connection.output = output

    def keeps_state(self, failure: Failure) -> bool:
        """Whether the check's calls are answered otherwise in a worker that was asked nothing before, twice alike."""
        if isinstance(failure.error, LearnerError) and failure.error.kind != "exception":
            return False
        answers = []
        for _ in SEEDS:
            self.connection.restart()
            answers.append(self.session.run(failure.check, self.subject)[1])
        return alike(*answers) and not alike(answers[0], failure.calls)

    def knows_by_heart(self, failure: Failure) -> bool:
        """Whether a documented call of these sizes gets one answer for all values, where the solution gives several."""
        last_call = failure.calls[-1]
        for check in self.documented(failure):
            own_answers, solution_answers = (
                [self.varied(check, seed, of_solution)[0] for seed in SEEDS] for of_solution in (False, True)
            )
            if (
                any(sizes(call) == sizes(last_call) for call in own_answers[0])
                and alike(*own_answers)
                and not alike(*solution_answers)
            ):
                return True
        return False

    def depends_on_sizes(self, failure: Failure) -> bool:
        """Whether the code is right for other values of the documented sizes, and wrong for small values of these.

        Documented calls of another function say nothing of this one.
        """
        last_call = failure.calls[-1]
        if any(hint in last_call.text for hint in ODD):
            return False
        right_calls: list[Call] = []
        for check in self.documented(failure):
            for seed in SEEDS:
                own_calls, changed = self.varied(check, seed, of_solution=False)
                if changed and not alike(own_calls, self.varied(check, seed, of_solution=True)[0]):
                    return False
                right_calls += [call for call in own_calls if changed and call.function == last_call.function]
        if not right_calls or any(sizes(call) == sizes(last_call) for call in right_calls):
            return False
        return all(self.fails_again(failure, seed) for seed in SEEDS)

    def has_fixed_shape(self, failure: Failure) -> bool:
        """Whether a function of sizes alone gives a wrong shape, and passed the documented checks with other sizes."""
        error, last = failure.error, failure.calls[-1]
        tensors = [getattr(error, name, None) for name in ("got", "expected")]
        shapes = [tensor.shape for tensor in tensors if isinstance(tensor, torch.Tensor)]
        if len(shapes) < 2 or shapes[0] == shapes[1] or "tensor" in last.outline:
            return False
        shown = [call for check in self.documented(failure) for call in self.session.run(check, self.subject)[1]]
        others = [call for call in shown if call.function == last.function]
        return bool(others) and all(sizes(call) != sizes(last) for call in others)

    def documented(self, failure: Failure) -> list[Check]:
        """The documented checks of the same task, where all of them passed."""
        public_checks = [
            check for check in self.session.checks if check.task == failure.check.task and not check.hidden
        ]
        return public_checks if all(check.id in self.passed for check in public_checks) else []

    def varied(self, check: Check, seed: int, of_solution: bool) -> tuple[list[Call], int]:
        """The calls of a documented check with other values, and how many tensors were other ones.

        of_solution: it is the solution that answers. The check ends at its first printed number.
        """
        connection = Varied(self.solution if of_solution else self.connection, seed)
        return self.session.run(check, Learner(connection))[1], connection.changed

    def fails_again(self, failure: Failure, seed: int) -> bool:
        """Whether the check fails alike at the same call where code and solution get other values, none large."""
        session = VariedSession(self.session, self.solution, seed)
        error, calls = session.run(failure.check, Learner(Varied(self.connection, seed)))
        return type(error) is type(failure.error) and len(calls) == len(failure.calls)


class VariedSession(Session):
    """A session whose solution gets other values too."""

    def __init__(self, session: Session, solution: Local, seed: int):
        super().__init__(session.exercise, session.seed)
        self.checks, self.solution, self.values = session.checks, solution, seed

    def reference(self, check: str) -> Learner:
        learner = Learner(Varied(self.solution, self.values))
        learner._begin(part(self.seed, check))
        return learner


def alike(first: list[Call], second: list[Call]) -> bool:
    """Whether the same calls had the same answers."""
    return len(first) == len(second) and not any(map(differ, first, second))


def sizes(call: Call) -> list[str]:
    """The numbers in a call: the sizes of its tensors, and whole numbers."""
    return re.findall(r"\d+", call.outline)
