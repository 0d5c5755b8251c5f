"""Sentences on code that no known mistake explains. Each is given only after a trial has confirmed it."""

import re
from collections.abc import Callable

import torch

from grader.catalog import paths
from grader.judge.collection import Check
from grader.judge.compared_calls import alike, is_of_object, most_dimensions, numbers, options, shapes, sizes
from grader.judge.failure import Failure
from grader.judge.mismatch import Mismatch
from grader.judge.patterns import is_finite
from grader.judge.proxy import Learner, tensors_in
from grader.judge.session import Session
from grader.judge.trial_sentences import (
    BY_HEART,
    FIXED,
    FROM_THE_END,
    FROM_THE_FRONT,
    LOADED,
    NUMBERS,
    OPTIONS,
    SIGNS,
    SIZES,
    STATE,
    UNWRITTEN,
    WHICH_DIMENSION,
)
from grader.judge.varied import Alone, ChangedSession, Unloaded, Varied
from grader.records import written
from grader.sandbox.call_results import Call, LearnerError
from grader.sandbox.local import Local
from grader.sandbox.remote import Remote

# What code writes that counts dimensions from the front, or from the end.
FRONT = frozenset({"0", "1", "2", "3", "T", "len(", "t(", "bmm("})
END = frozenset({"-1", "-2", "-3"})
SEEDS = (1, 2)  # of two other sets of values
EMPTY = re.compile(r"\b(new_)?empty(_like)?\(")
ODD = ("float64", "bfloat16", "float16", "non-contiguous")  # a call with these may fail for their sake


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
        tests: list[Callable[[Failure], str | None]] = [self.of_state]
        error = failure.error
        if failure.calls[-1].want == "output" and (not isinstance(error, Mismatch) or is_finite(error.got)):
            tests += [self.of_memory] if isinstance(error, Mismatch) else []
            tests += [self.of_arguments, self.of_shape]
        if EMPTY.search(self.subject.source):  # what is left in memory is no state of the code's
            tests = [*tests[1:], self.of_state]
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
            self.connection.restart()
            answers.append(self.session.run(failure.check, self.subject)[1])
        if not alike(*answers) or alike(answers[0], failure.calls):
            return None
        return UNWRITTEN if EMPTY.search(self.subject.source) else STATE

    def of_memory(self, failure: Failure) -> str | None:
        """BY_HEART, where a documented call of these sizes gets one answer for all values, and the solution several."""
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
                return BY_HEART
        return None

    def of_arguments(self, failure: Failure) -> str | None:
        """What sets the call apart from right ones, where small values fail too and other values of right calls do not.

        Documented calls of another function say nothing of this one.
        """
        last_call = failure.calls[-1]
        is_refused = isinstance(failure.error, LearnerError) and failure.error.kind != "exception"
        if is_refused or any(hint in last_call.text for hint in ODD):
            return None
        right_calls: list[Call] = []
        checks = self.documented(failure)
        for check in checks:
            for seed in SEEDS:
                own_calls, changed = self.varied(check, seed, of_solution=False)
                if changed and not alike(own_calls, self.varied(check, seed, of_solution=True)[0]):
                    return None
                right_calls += [call for call in own_calls if changed and call.function == last_call.function]
        if not right_calls or any(sizes(call) == sizes(last_call) for call in right_calls):
            return None
        if not all(self.fails_again(failure, seed) for seed in SEEDS):
            return None
        if any(self.depends_on_signs(check) for check in checks):
            return SIGNS
        if is_of_object(last_call):
            mine, theirs = Unloaded(self.connection), Unloaded(self.solution)
            error, _ = ChangedSession(self.session, theirs).run(failure.check, Learner(mine))
            if mine.kept and error is None:
                return LOADED if self.fails_again(failure, SEEDS[0], loads=True) else None
            if mine.kept and not theirs.kept:  # what the check expects holds for the loaded parameters alone
                return None
        earlier_calls = [call for call in failure.calls[:-1] if call.function == last_call.function]
        if earlier_calls and self.depends_on_earlier_calls(failure):
            return STATE
        right_calls += earlier_calls
        if options(last_call) not in map(options, right_calls):
            return OPTIONS
        if most_dimensions([last_call]) > most_dimensions(right_calls):
            return self.of_dimensions(last_call.function)
        return SIZES if numbers(last_call) in map(numbers, right_calls) else NUMBERS

    def of_dimensions(self, function: str) -> str:
        """The sentence on dimensions, by the side from which the function's own code counts them."""
        tokens = written.tokens(self.subject.source).get(function.partition(".")[0], [])
        if FRONT.intersection(tokens):
            return FROM_THE_FRONT
        return FROM_THE_END if END.intersection(tokens) else WHICH_DIMENSION

    def depends_on_signs(self, check: Check) -> bool:
        """Whether a documented check gets other answers than the solution's, all finite, where signs change."""
        mine, theirs = (self.varied(check, SEEDS[0], of_solution, signs=True)[0] for of_solution in (False, True))
        answers = [tensor for call in theirs for tensor in tensors_in(call.value)]
        return all(map(is_finite, answers)) and not alike(mine, theirs)

    def of_shape(self, failure: Failure) -> str | None:
        """FIXED, where a function of sizes alone gives a wrong shape, and passed the documented checks with others."""
        error, last = failure.error, failure.calls[-1]
        tensors = [getattr(error, name, None) for name in ("got", "expected")]
        got = [tensor.shape for tensor in tensors if isinstance(tensor, torch.Tensor)]
        if len(got) < 2 or got[0] == got[1] or shapes(last):
            return None
        shown = [call for check in self.documented(failure) for call in self.session.run(check, self.subject)[1]]
        others = [call for call in shown if call.function == last.function]
        return FIXED if others and all(sizes(call) != sizes(last) for call in others) else None

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

    def fails_again(self, failure: Failure, seed: int, loads: bool = False) -> bool:
        """Whether the check fails alike at the same call where code and solution get plain values, none large.

        loads: parameters that are loaded get other values too. Where the solution fails then too, as the check expects
        numbers of its own, it does not count.
        """
        mine, theirs = (
            Varied(connection, seed, loads=loads, plain=True) for connection in (self.connection, self.solution)
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
            self.connection.restart()
            alone = Alone(self.connection, replies)
            runs.append(self.session.run(failure.check, Learner(alone))[1][: len(failure.calls)])
            replies = replies or alone.replies[: len(failure.calls)]
        return alike(runs[0], failure.calls) and not alike(*runs)
