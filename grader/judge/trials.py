"""Sentences on code that no known mistake explains. Each is given only after a trial has confirmed it.

A trial runs a check again with something changed: other values in its arguments, or no parameters loaded.
"""

import ctypes
import re
import zlib
from collections.abc import Callable
from itertools import takewhile

import torch

from grader.catalog import paths
from grader.judge.collection import Check
from grader.judge.compare import Mismatch, differ
from grader.judge.failure import Failure
from grader.judge.patterns import is_finite
from grader.judge.proxy import Learner, tensors_in
from grader.judge.session import Session
from grader.records import source
from grader.records.seeds import part
from grader.sandbox.call_results import Call, LearnerError
from grader.sandbox.local import Local
from grader.sandbox.remote import Remote
from grader.worker import protocol
from grader.worker.codec import DTYPES
from grader.worker.protocol import Reply, Request
from grader.worker.wire import RawTensor

TENSOR = re.compile(r"tensor \(([\d, ]*)\)")  # with its shape, in the outline of a call
CREATION = re.compile(r"[A-Z]\w*\([^()]*\)")  # of an object, at the start of the outline of its call
FLOATS = {name for name, dtype in DTYPES.items() if dtype.is_floating_point}
SIZES = (
    "Right for the sizes of the documented example, with other values too, but wrong for the sizes of this call: "
    "is a size written into the code, or does a size of 1 hide something?"
)
NUMBERS = (
    "Right for the documented example, with other values too, but wrong for the sizes and whole numbers of this call: "
    "is one of them written into the code, or are 0 and 1 treated in another way?"
)
DIMENSIONS = "Right for tensors of fewer dimensions, with other values too, but wrong for those of this call: "
FROM_THE_FRONT = DIMENSIONS + (
    "does the code count dimensions from the front (0, 1) where they should be counted from the end (-1, -2)?"
)
FROM_THE_END = DIMENSIONS + (
    "does the code count a dimension from the end (-1, -2) where it should be counted from the front (0, 1)?"
)
WHICH_DIMENSION = DIMENSIONS + "along which of them does each step work?"
SIGNS = (
    "Right for the documented example, and for other values of the same signs, but wrong where signs are others: "
    "does the code treat negative numbers in another way?"
)
OPTIONS = (
    "Right for the documented example, with other values too, but wrong for this call. It has another option (True "
    "instead of False, say) and other sizes: what does the code do with each of them?"
)
LOADED = (
    "Right with the numbers that the class draws for its parameters, wrong once others are loaded into them: is "
    "something computed from the parameters beforehand, in __init__ say, and kept?"
)
FIXED = "Right for the sizes of the documented example, but not in shape for these: is a size written into the code?"
UNWRITTEN = "A second call gives other numbers, and torch.empty is called: is each of its entries written?"
BY_HEART = "The documented numbers come back whatever the values are: compute them from the arguments."
STATE = "Asked before all others, this call gives another answer: does the code keep something of an earlier call?"
# What code writes that counts dimensions from the front, or from the end.
FRONT = frozenset({"0", "1", "2", "3", "T", "len(", "t(", "bmm("})
END = frozenset({"-1", "-2", "-3"})
SEEDS = (1, 2)  # of two other sets of values
EMPTY = re.compile(r"\b(new_)?empty(_like)?\(")
ODD = ("float64", "bfloat16", "float16", "non-contiguous")  # a call with these may fail for their sake


def alike(first: list[Call], second: list[Call]) -> bool:
    """Whether the same calls had the same answers."""
    return len(first) == len(second) and not any(map(differ, first, second))


def sizes(call: Call) -> list[str]:
    """The numbers in a call: the sizes of its tensors, and whole numbers."""
    return re.findall(r"\d+", call.outline)


def is_of_object(call: Call) -> bool:
    """Whether it creates an object, or calls one."""
    return CREATION.match(call.outline) is not None


def shapes(call: Call) -> list[list[str]]:
    """The shapes of the tensors in a call."""
    return [re.findall(r"\d+", shape) for shape in TENSOR.findall(call.outline)]


def most_dimensions(calls: list[Call]) -> int:
    """The dimensions of the tensor in these calls that has most of them, 0 where there is no tensor."""
    return max((len(shape) for call in calls for shape in shapes(call)), default=0)


def numbers(call: Call) -> list[str]:
    """The whole numbers in a call that are no sizes: not those in the creation of its object."""
    return re.findall(r"-?\d+", TENSOR.sub("", CREATION.sub("", call.outline, count=1)))


def options(call: Call) -> list[str]:
    """The arguments of a call and of the creation of its object that are True, False or None."""
    return re.findall(r"\b(?:True|False|None)\b", call.outline)


class Changed(Local):
    """A connection that changes requests. source and words: of the submission, as the connection before it has them."""

    def __init__(self, connection: Remote | Local):
        self.connection = connection
        self.source, self.words = connection.source, connection.words


class Varied(Changed):
    """Every float argument of a call gets other values, none of them large. Zeros stay, and what is not finite.

    signs: whether the signs change too; positive: whether all values become positive; loads: whether parameters that
    are loaded get other values too, and plain: also what is 0 or not finite; changed: how many tensors got others.
    """

    def __init__(
        self,
        connection: Remote | Local,
        seed: int,
        signs: bool = False,
        loads: bool = False,
        plain: bool = False,
        positive: bool = False,
    ):
        super().__init__(connection)
        self.seed, self.signs, self.plain, self.positive, self.changed = seed, signs, plain, positive, 0
        self.kinds = (protocol.Call, protocol.Assign) if loads else protocol.Call

    def exchange(self, request: Request, tensors: list[RawTensor], function: str = "") -> tuple[Reply, list[RawTensor]]:
        """The reply to one request, whose tensors are varied first."""
        if isinstance(request, self.kinds):
            tensors = [self.other(raw) if raw.dtype in FLOATS and len(raw.data) else raw for raw in tensors]
        return self.connection.exchange(request, tensors, function)

    def other(self, raw: RawTensor) -> RawTensor:
        """The tensor with other values."""
        self.changed += 1
        values = torch.frombuffer(bytearray(raw.data), dtype=DTYPES[raw.dtype]).float()
        if self.plain:
            values = torch.where(values.isfinite() & (values != 0), values, 1.0)
        values = values.abs() if self.positive else values
        # Other values for other tensors: if the signs of two agreed, those of their products would stay.
        generator = torch.Generator().manual_seed(self.seed + zlib.crc32(raw.data))
        factors = 0.5 + torch.rand(len(values), generator=generator)
        if self.signs:
            factors *= torch.where(torch.rand(len(values), generator=generator) < 0.5, -1.0, 1.0)
        largest = values[values.isfinite()].abs().max() if values.isfinite().any() else torch.ones(())
        values = (values * factors / largest.clamp(min=1.0)).to(DTYPES[raw.dtype])
        return raw._replace(data=ctypes.string_at(values.data_ptr(), values.nbytes))


class Sliced(Changed):
    """Of each tensor of a call with more dimensions than `most` the first part along dim 0, until it has no more."""

    def __init__(self, connection: Remote | Local, most: int):
        super().__init__(connection)
        self.most = most

    def exchange(self, request: Request, tensors: list[RawTensor], function: str = "") -> tuple[Reply, list[RawTensor]]:
        """The reply to one request, whose tensors are sliced first."""
        if isinstance(request, protocol.Call):
            tensors = [self.part(raw) for raw in tensors]
        return self.connection.exchange(request, tensors, function)

    def part(self, raw: RawTensor) -> RawTensor:
        """The first part of a tensor."""
        while len(raw.shape) > self.most and raw.shape[0]:
            raw = raw._replace(shape=raw.shape[1:], data=bytes(raw.data[: len(raw.data) // raw.shape[0]]))
        return raw


class Unloaded(Changed):
    """No parameters are loaded: each object keeps those that it drew. kept: how many times that was so."""

    kept = 0

    def exchange(self, request: Request, tensors: list[RawTensor], function: str = "") -> tuple[Reply, list[RawTensor]]:
        """The reply to one request; one that loads parameters is not passed on."""
        if isinstance(request, protocol.Assign):
            self.kept += 1
            return Reply(unknown=[], misshapen=[], surplus=[]), []
        return self.connection.exchange(request, tensors, function)


class Alone(Changed):
    """One call of a check reaches the code alone: those before it are given the replies that they had before.

    replies: of all calls, as they come; kept: those of an earlier run, whose last call is the one that is made. Objects
    are created all the same.
    """

    def __init__(self, connection: Remote | Local, kept: list[tuple[Reply, list[RawTensor]]] | None = None):
        super().__init__(connection)
        self.kept, self.replies = kept or [], list[tuple[Reply, list[RawTensor]]]()

    def exchange(self, request: Request, tensors: list[RawTensor], function: str = "") -> tuple[Reply, list[RawTensor]]:
        """The reply to one request."""
        if not isinstance(request, protocol.Call):
            return self.connection.exchange(request, tensors, function)
        number = len(self.replies)
        is_creation = isinstance(request.target[0], str) and request.target[0][:1].isupper()
        if number + 1 < len(self.kept) and not is_creation:
            reply = self.kept[number]
        else:
            reply = self.connection.exchange(request, tensors, function)
        self.replies.append(reply)
        return reply


class ChangedSession(Session):
    """A session whose solution is asked through a connection that changes requests too."""

    def __init__(self, session: Session, solution: Changed):
        super().__init__(session.exercise, session.seed)
        self.checks, self.solution = session.checks, solution

    def reference(self, check: str) -> Learner:
        learner = Learner(self.solution)
        learner._begin(part(self.seed, check))
        return learner


class Trials:
    """Tries out the code of one submission. subject: the proxy before it; passed: the checks that it passed."""

    def __init__(self, session: Session, subject: Learner, connection: Remote, passed: set[str]):
        self.session, self.subject, self.connection, self.passed = session, subject, connection, passed
        self.solution = Local.load(paths.solution(session.exercise.folder), session.exercise.slug)

    def sentence(self, failure: Failure) -> str | None:
        """The first sentence on the failed check that a trial confirms, or None."""
        connection = self.connection
        output = connection.output
        tests: list[Callable[[Failure], str | None]] = [self.of_state, self.of_kept_calls]
        error = failure.error
        if failure.calls[-1].want == "output" and (not isinstance(error, Mismatch) or is_finite(error.got)):
            tests += [self.of_memory] if isinstance(error, Mismatch) else []
            tests += [self.of_arguments, self.of_shape]
        if EMPTY.search(self.subject.source):  # what is left in memory is no state of the code's
            tests = [*tests[2:], *tests[:2]]
        try:
            return next(filter(None, (test(failure) for test in tests)), None)
        finally:
            connection.output = output

    def of_state(self, failure: Failure) -> str | None:
        """STATE, where the check's calls are answered otherwise in a worker that was asked nothing before, twice alike.

        UNWRITTEN, where torch.empty is called.
        """
        if isinstance(failure.error, LearnerError) and failure.error.kind != "exception":
            return None
        answers = []
        for _ in SEEDS:
            self.connection.close()
            error, calls = self.session.run(failure.check, self.subject)
            if isinstance(error, LearnerError) and error.kind != "exception":
                return None  # the new worker has not loaded all of the source, as one that takes long
            answers.append(calls)
        if not alike(*answers) or alike(answers[0], failure.calls):
            return None
        return UNWRITTEN if EMPTY.search(self.subject.source) else STATE

    def of_memory(self, failure: Failure) -> str | None:
        """BY_HEART, where a documented call of these sizes gets one answer for all values, and the solution several."""
        wrong_call = failure.call or failure.calls[-1]
        for check in self.documented(failure):
            own_answers, solution_answers = (
                [self.varied(check, seed, of_solution)[0] for seed in SEEDS] for of_solution in (False, True)
            )
            if (
                any(sizes(call) == sizes(wrong_call) for call in own_answers[0])
                and alike(*own_answers)
                and not alike(*solution_answers)
            ):
                return BY_HEART
        return None

    def of_kept_calls(self, failure: Failure) -> str | None:
        """STATE, where an object is called a second time, and answers otherwise if it was not called before."""
        last_call = failure.calls[-1]
        earlier_calls = [call for call in failure.calls[:-1] if call.function == last_call.function]
        is_asked = is_of_object(last_call) and last_call.function.endswith(".__call__") and bool(earlier_calls)
        is_refused = isinstance(failure.error, LearnerError) and failure.error.kind != "exception"
        return STATE if is_asked and not is_refused and self.depends_on_earlier_calls(failure) else None

    def of_arguments(self, failure: Failure) -> str | None:
        """What sets the call apart from right ones, where small values fail too and other values of right calls do not.

        Documented calls of another function say nothing of this one.
        """
        wrong_call = failure.call or failure.calls[-1]
        is_refused = isinstance(failure.error, LearnerError) and failure.error.kind != "exception"
        if is_refused or any(hint in wrong_call.text for hint in ODD):
            return None
        right_calls: list[Call] = []
        checks = self.documented(failure)
        for check in checks:
            for seed in SEEDS:
                own_calls, changed = self.varied(check, seed, of_solution=False)
                if changed and not alike(own_calls, self.varied(check, seed, of_solution=True)[0]):
                    return None
                right_calls += [call for call in own_calls if changed and call.function == wrong_call.function]
        if not right_calls or any(sizes(call) == sizes(wrong_call) for call in right_calls):
            return None
        if not all(self.fails_again(failure, seed) for seed in SEEDS):
            return None
        if any(self.depends_on_signs(check) for check in checks):
            fails_without = self.fails_again(failure, SEEDS[0], loads=True, positive=True)
            return None if fails_without else SIGNS
        if is_of_object(wrong_call):
            mine, theirs = Unloaded(self.connection), Unloaded(self.solution)
            error, _ = ChangedSession(self.session, theirs).run(failure.check, Learner(mine))
            if mine.kept and error is None:
                return LOADED if self.fails_again(failure, SEEDS[0], loads=True) else None
            if mine.kept and not theirs.kept:  # what the check expects holds for the loaded parameters alone
                return None
        before = takewhile(lambda call: call is not wrong_call, failure.calls)
        earlier_calls = [call for call in before if call.function == wrong_call.function]
        if earlier_calls and self.depends_on_earlier_calls(failure):
            return STATE
        right_calls += earlier_calls
        if options(wrong_call) not in map(options, right_calls):
            return OPTIONS
        most = most_dimensions(right_calls)
        if most_dimensions([wrong_call]) > most and not self.fails_sliced(failure, most):
            return self.of_dimensions(wrong_call.function)
        return SIZES if numbers(wrong_call) in map(numbers, right_calls) else NUMBERS

    def of_dimensions(self, function: str) -> str:
        """The sentence on dimensions, by the side from which the function's own code counts them."""
        tokens = source.written_tokens(self.subject.source).get(function.partition(".")[0], [])
        if FRONT.intersection(tokens):
            return FROM_THE_FRONT
        return FROM_THE_END if END.intersection(tokens) else WHICH_DIMENSION

    def fails_sliced(self, failure: Failure, most: int) -> bool:
        """Whether a part of the call's tensors, with no more than so many dimensions, has a wrong answer too."""
        mine, theirs = (
            self.session.run(failure.check, Learner(Sliced(connection, most)))[1]
            for connection in (self.connection, self.solution)
        )
        return not alike(mine, theirs)

    def depends_on_signs(self, check: Check) -> bool:
        """Whether a documented check gets other answers than the solution's, all finite, where signs change."""
        mine, theirs = (self.varied(check, SEEDS[0], of_solution, signs=True)[0] for of_solution in (False, True))
        answers = [tensor for call in theirs for tensor in tensors_in(call.value)]
        return all(map(is_finite, answers)) and not alike(mine, theirs)

    def of_shape(self, failure: Failure) -> str | None:
        """FIXED, where a function of sizes alone gives a wrong shape, and passed the documented checks with others."""
        error, wrong_call = failure.error, failure.call or failure.calls[-1]
        tensors = [getattr(error, name, None) for name in ("got", "expected")]
        got = [tensor.shape for tensor in tensors if isinstance(tensor, torch.Tensor)]
        if len(got) < 2 or got[0] == got[1] or shapes(wrong_call):
            return None
        shown = [call for check in self.documented(failure) for call in self.session.run(check, self.subject)[1]]
        others = [call for call in shown if call.function == wrong_call.function]
        return FIXED if others and all(sizes(call) != sizes(wrong_call) for call in others) else None

    def documented(self, failure: Failure) -> list[Check]:
        """The documented checks of the same task, where all of them passed."""
        public_checks = [
            check for check in self.session.checks if check.task == failure.check.task and not check.hidden
        ]
        return public_checks if all(check.id in self.passed for check in public_checks) else []

    def varied(self, check: Check, seed: int, of_solution: bool, signs: bool = False) -> tuple[list[Call], int]:
        """The calls of a documented check with other values, and how many tensors were other ones.

        of_solution: it is the solution that answers. The check ends at its first printed number.
        """
        connection = Varied(self.solution if of_solution else self.connection, seed, signs)
        return self.session.run(check, Learner(connection))[1], connection.changed

    def fails_again(self, failure: Failure, seed: int, loads: bool = False, positive: bool = False) -> bool:
        """Whether the check fails alike at the same call where code and solution get plain values, none large.

        loads: parameters that are loaded get other values too. positive: all values are positive. Where the solution
        fails then too, as the check expects numbers of its own, it does not count.
        """
        mine, theirs = (
            Varied(connection, seed, loads=loads, plain=True, positive=positive)
            for connection in (self.connection, self.solution)
        )
        session = ChangedSession(self.session, theirs)
        error, calls = session.run(failure.check, Learner(mine))
        fails = type(error) is type(failure.error) and len(calls) == len(failure.calls)
        return fails and session.run(failure.check, Learner(theirs))[0] is None

    def depends_on_earlier_calls(self, failure: Failure) -> bool:
        """Whether the last call is answered otherwise where those before it in the check are not made."""
        runs = []
        replies = None
        for _ in SEEDS:
            self.connection.close()
            alone = Alone(self.connection, replies)
            runs.append(self.session.run(failure.check, Learner(alone))[1][: len(failure.calls)])
            replies = replies or alone.replies[: len(failure.calls)]
        return alike(runs[0], failure.calls) and not alike(*runs)
