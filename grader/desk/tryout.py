"""Runs a lesson's example calls on the learner's file, in the sandbox, and shows each value beside the lesson's."""

import ast
import builtins
import contextlib
import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.catalog import Exercise, paths, project
from grader.catalog.errors import WrongUse
from grader.catalog.exercise import Limits
from grader.desk.lesson import Example
from grader.judge import messages
from grader.judge.general_sentences import MODULES
from grader.judge.inputs import trained_state
from grader.judge.proxy import Learner
from grader.records.sanitize import inert
from grader.records.submission import Submission
from grader.reports import terminal
from grader.sandbox.call_results import LearnerError
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.remote import Remote

LIMITS = Limits(call_s=10.0, call_cpu_s=2.0)
MAX_LOST = 3  # processes that may end before the rest is given up
ENDINGS = ("timeout", "ended", "protocol")
NUMBER = re.compile(r"(?<![\w.])-?(?:\d[\d_]*(?:\.\d*)?(?:e[+-]?\d+)?|inf\b|nan\b|(?<!=)(?:True|False)\b)(?![\w])")
WORDS = ("True", "False")
LEFT_OUT = re.compile(r",\s*(?:grad_fn=<\w+>|requires_grad=True)|Parameter containing:\s*")
DIGITS = 4  # after the point, as torch prints numbers that are not whole
NOISE = 1e-6  # of a number: what two right ways of computing it differ by
INDENT = 4


@dataclass(frozen=True)
class Outcome:
    """The outcome of one example. text: its value in torch's four digits; exact: in all digits; or the problem.

    is_open: a function is not written yet; raised: the name of the exception that the call raised, or ""; printed: what
    it printed; waits: whether a statement above should have set or changed what it reads.
    """

    example: Example
    text: str = ""
    exact: str = ""
    problem: str = ""
    is_open: bool = False
    raised: str = ""
    printed: str = ""
    waits: bool = False


def run(
    exercise: Exercise, submission: Submission, examples: Sequence[Example], fork_server: ForkServer
) -> Iterator[Outcome]:
    """Run the examples one after the other in one worker. Those that the lesson says nothing about give an outcome only
    where they fail by themselves.

    Raises WrongUse where the file cannot be loaded at all.
    """
    with contextlib.closing(_Desk(exercise, submission, fork_server)) as desk:
        for example in examples:
            outcome = desk.outcome(example)
            if example.is_shown or (outcome.problem and not outcome.waits):
                yield outcome


class _Desk:
    """One worker that has the file and all that was run so far. A worker that ended is replaced."""

    def __init__(self, exercise: Exercise, submission: Submission, fork_server: ForkServer) -> None:
        self.exercise, self.fork_server, self.submission = exercise, fork_server, submission
        self.done: list[Example] = []  # what a new worker has to run again
        self.unset: set[str] = set()  # names that a failed statement should have set
        self.unchanged: set[str] = set()  # names of what one should have changed: t in `f(t).backward()`
        self.lost = 0
        project.demand_needs(exercise.limits.needs)
        self.limits = replace(LIMITS, needs=exercise.limits.needs)
        runner = paths.module("worker/line_runner.py").read_text("utf-8")
        # Compiled under another name: messages must show the learner's own lines alone.
        source = f"{submission.source}\n\n\nexec(compile({runner!r}, 'lines', 'exec'))\n"
        self.source = Submission(source, submission.filename, submission.notes)
        self.load()

    def load(self) -> None:
        """A worker with the file and what was run in it before."""
        self.remote = Remote(self.fork_server, self.source, self.exercise.slug, self.limits)
        self.learner = Learner(self.remote)
        try:
            self.remote.load()
            if (path := paths.trained(self.exercise.folder)).exists():
                self.learner.keep_file(path.name, trained_state(self.exercise.folder))
            for example in self.done:
                self.learner.run_line(example.code, example.is_call)
        except LearnerError as error:
            self.close()
            message = messages.learner_error(error, self.submission)
            raise WrongUse(f"{self.submission.filename} cannot be run.\n{inert(message)}") from None

    def close(self) -> None:
        self.remote.close()

    def outcome(self, example: Example) -> Outcome:
        """Run one example, and note what it should have defined or changed where it fails."""
        called, assigned = _called(example.code), _names(example.code, ast.Store)
        read = _names(example.code, ast.Load) - assigned
        missing, unchanged = read & self.unset, read & self.unchanged
        outcome = _waiting(example, missing) if missing else self._run(example)
        if outcome.problem:
            self.unset |= assigned  # what they hold from an earlier task is not what is meant here
        else:
            self.unset -= assigned
            self.unchanged -= assigned
        if unchanged and not called and is_equal(outcome) is False:
            return _waiting(example, unchanged)
        if outcome.problem and not (outcome.raised and outcome.raised == example.raises):
            self.unchanged |= read - called - MODULES.keys()
        return outcome

    def _run(self, example: Example) -> Outcome:
        if self.lost >= MAX_LOST:
            return Outcome(example, problem="not run: too many calls did not end")
        before = len(self.remote.output)
        try:
            value = self.learner.run_line(example.code, example.is_call)
            texts = value if isinstance(value, list) and all(isinstance(text, str) for text in value) else []
            text, exact = map(inert, texts) if len(texts) == 2 else ("", "")
            self.done.append(example)
            return Outcome(example, text, exact, printed=self.remote.output[before:])
        except LearnerError as error:
            problem, is_open = self._problem(error)
            raised, printed = str(error.facts.get("type", "")), self.remote.output[before:]
            if error.kind in ENDINGS:
                self.lost += 1
                self.close()
                self.load()
            return Outcome(example, problem=inert(problem), is_open=is_open, raised=raised, printed=printed)

    def _problem(self, error: LearnerError) -> tuple[str, bool]:
        """The problem in words for the learner, and whether it is only that something is not written yet."""
        facts, error.call = error.facts, None
        message = str(facts.get("message", ""))
        name = message.split("'")[1] if facts.get("type") == "NameError" and message.count("'") > 1 else ""
        if name and not facts.get("frames"):
            return f"there is no `{name}` in {self.submission.filename}", False
        return messages.learner_error(error, self.submission).replace("the file ran", "it ran"), error.is_not_started


def compare(text: str, exact: str, lesson: str) -> tuple[bool, str]:
    """Compare a value with the lesson's. Returns whether they are equal, and the value as it is shown.

    text: the value as Python prints it; exact: the same with all digits; lesson: with as many digits as it pleases.
    A number is equal where it is the lesson's after rounding to the lesson's digits. Where the lesson has whole numbers
    alone, as in tensor([1., 0.]), nothing was rounded: torch prints others with four digits.
    """
    (form, numbers), (expected_form, expected) = _parts(exact), _parts(lesson)
    if form != expected_form:
        return False, text
    decimals = [number.partition(".")[2] for number in expected]
    digits = max(map(len, decimals), default=0)
    if not any(part.strip("0") for part in decimals):
        digits = max(digits, DIGITS)
    equal = all(_same(own, other, digits) for own, other in zip(numbers, expected))
    hides = "".join(text.split()) == "".join(lesson.split())  # the digits in which they differ
    return equal, exact if hides and not equal else text


def page(exercise: Exercise, outcomes: Sequence[Outcome]) -> list[RenderableType]:
    """The whole page, and below it how many are the lesson's, and what to type next."""
    number = exercise.folder[:2]
    lines: list[RenderableType] = [Text(f"{number} {exercise.title}", "bold")]
    for task, of_task in itertools.groupby(outcomes, lambda outcome: outcome.example.task):
        parts = [*of_task]
        if task > 0:
            title = parts[0].example.title.replace("`", "")
            lines += [Text(), Text.assemble((f"Task {task}  ", "dim"), (title, "bold"))]
        lines += (line for outcome in parts for line in shown(outcome))
    if verdicts := [is_equal(outcome) for outcome in outcomes if outcome.example.is_shown]:
        counted = f"{verdicts.count(True)} of {len(verdicts)} are as in the lesson."
        lines += [Text(), Text(f"{counted} Grade it: make check EX={number}", "dim")]
    return lines


def shown(outcome: Outcome) -> list[RenderableType]:
    """One call and what came of it."""
    example = outcome.example
    sign, style = terminal.SIGNS[{True: "passed", False: "failed", None: "not_checked"}[is_equal(outcome)]]
    head = Text.assemble((f"{sign} ", style), example.code.replace("\n", "\n  "))
    below: list[RenderableType] = []
    if outcome.printed.strip():
        below += [Text(text, style) for text, style in terminal.printed(outcome.printed)]
    if outcome.raised and outcome.raised == example.raises:
        below.append(Text(outcome.problem.splitlines()[0], "dim"))
    elif outcome.problem:
        first, *rest = outcome.problem.splitlines()
        below += [Text(first, style), *(Text(line, "dim") for line in rest)]
    elif example.raises:
        below.append(Text(f"{outcome.text}\nThe lesson's raises {example.raises}.", style))
    else:
        _, mine = compare(outcome.text, outcome.exact, example.value)
        below.append(_both(mine, example.value))
    return [head, *(Padding(part, (0, 0, 0, INDENT), expand=False) for part in below)]


def is_equal(outcome: Outcome) -> bool | None:
    """Whether the value is the lesson's; None where there is nothing to compare yet."""
    example = outcome.example
    if outcome.is_open or not (outcome.problem or example.is_shown):
        return None
    if example.raises:
        return outcome.raised == example.raises
    return not outcome.problem and compare(outcome.text, outcome.exact, example.value)[0]


def _waiting(example: Example, names: set[str]) -> Outcome:
    """The outcome of an example that needs one of these names from a statement that failed."""
    name = min(names, key=example.code.index)
    return Outcome(example, problem=f"waits for `{name}`, see above", is_open=True, waits=True)


def _called(code: str) -> set[str]:
    """The names of functions that a piece of code calls, without Python's own: `f` in `len(f(x).tolist())`."""
    calls = (node.func for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call))
    return {func.id for func in calls if isinstance(func, ast.Name)} - set(dir(builtins))


def _names(code: str, context: type[ast.expr_context]) -> set[str]:
    """The names that a piece of code reads, or that it sets."""
    nodes = ast.walk(ast.parse(code))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, context)}


def _same(own: str, lesson: str, digits: int) -> bool:
    """Whether a number is the lesson's, to the lesson's digits. digits: of one that is printed as 1. or 1.0."""
    if own in WORDS or lesson in WORDS:
        return own == lesson
    value, expected = float(own), float(lesson)
    if "." not in lesson or not math.isfinite(expected) or not math.isfinite(value):
        return value == expected or own == lesson
    decimals = lesson.partition(".")[2]
    shown = len(decimals) if decimals.strip("0") else digits
    return abs(value - expected) <= 0.5 * 10**-shown + NOISE * abs(expected)


def _parts(text: str) -> tuple[str, list[str]]:
    """A printed value as the text between its numbers, without spaces, and the numbers."""
    text = LEFT_OUT.sub("", text)
    return "".join(NUMBER.sub("0", text).split()), NUMBER.findall(text)


def _both(mine: str, lesson: str) -> Table:
    """The learner's value, and the lesson's below it."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for whose, value in (("yours", mine), ("the lesson", lesson)):
        table.add_row(Text(whose, "dim"), Text(value, overflow="fold"))
    return table
