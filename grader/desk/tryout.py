"""Runs a lesson's example calls on the learner's file, in the sandbox, and keeps what comes of each."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.catalog import Exercise, paths
from grader.catalog.errors import WrongUse
from grader.catalog.limits import Limits
from grader.desk.examples import Example
from grader.judge import messages
from grader.judge.proxy import Learner
from grader.judge.trained import trained_state
from grader.records.sanitize import inert
from grader.records.submission import Submission
from grader.sandbox.call_results import LearnerError
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.remote import Remote

LIMITS = Limits(call_s=10.0, call_cpu_s=2.0)
OWN = -1  # the task of a line of the learner's own
MAX_LOST = 3  # processes that may end before the rest is given up
ENDINGS = ("timeout", "ended", "protocol")


@dataclass(frozen=True)
class Outcome:
    """The outcome of one example. text: its value in torch's four digits; exact: in all digits; or the problem.

    is_open: a function is not written yet; raised: the name of the exception that the call raised, or "";
    printed: what it printed.
    """

    example: Example
    text: str = ""
    exact: str = ""
    problem: str = ""
    is_open: bool = False
    raised: str = ""
    printed: str = ""
    waits_for: str = ""  # the name that a statement above should have set

    @property
    def has_own_problem(self) -> bool:
        """Whether there is a problem of its own, and not only one of a statement above."""
        return bool(self.problem) and not self.waits_for


def run(
    exercise: Exercise, submission: Submission, examples: Sequence[Example], fork_server: ForkServer
) -> Iterator[Outcome]:
    """Run the examples one after the other in one worker. Those that the lesson says nothing about give an outcome only
    where they fail by themselves.

    Raises WrongUse where the file cannot be loaded at all.
    """
    desk = _Desk(exercise, submission, fork_server)
    try:
        desk.load()
        for example in examples:
            outcome = desk.outcome(example)
            if example.is_shown or outcome.has_own_problem or (example.is_call and example.task == OWN):
                yield outcome
    finally:
        desk.close()


def of_line(text: str) -> tuple[Example, ...]:
    """A learner's own line as examples, the task of which is OWN. Raises WrongUse where it is no Python."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError) as error:
        raise WrongUse(f'ARGS="{text}" is no Python: {error.args[0]}') from None
    segments = [(ast.get_source_segment(text, node) or "", isinstance(node, ast.Expr)) for node in body]
    return tuple(Example(OWN, "", code, is_call) for code, is_call in segments)


class _Desk:
    """One worker that has the file and all that was run so far. A worker that ended is replaced."""

    def __init__(self, exercise: Exercise, submission: Submission, fork_server: ForkServer) -> None:
        self.exercise, self.fork_server, self.submission = exercise, fork_server, submission
        self.done: list[Example] = []  # what a new worker has to run again
        self.unset: set[str] = set()  # names that a failed statement should have set
        self.lost = 0
        runner = paths.module("worker/lines.py").read_text("utf-8")
        # Compiled under another name: messages shall show the learner's own lines alone.
        source = f"{submission.source}\n\n\nexec(compile({runner!r}, 'lines', 'exec'))\n"
        self.source = Submission(source, submission.filename, submission.notes)

    def load(self) -> None:
        """A worker with the file and what was run in it before."""
        self.remote = Remote(self.fork_server, self.source, self.exercise.slug, LIMITS)
        self.learner = Learner(self.remote)
        try:
            self.remote.load()
            if paths.trained(self.exercise.folder).exists():
                path = paths.trained(self.exercise.folder)
                self.learner.keep_file(path.name, trained_state(self.exercise.folder))
            for example in self.done:
                self.learner.run_line(example.code, example.is_call)
        except LearnerError as error:
            message = messages.learner_error(error, self.submission)
            raise WrongUse(f"{self.submission.filename} cannot be run.\n{inert(message)}") from None

    def close(self) -> None:
        self.remote.close()

    def outcome(self, example: Example) -> Outcome:
        """Run one example, and note what it should have defined where it fails."""
        if self.lost >= MAX_LOST:
            return Outcome(example, problem="not run: too many calls did not end")
        if missing := _read(example.code) & self.unset:
            self.unset |= _assigned(example.code)  # what they hold from an earlier task is not what is meant here
            name = min(missing, key=example.code.index)
            return Outcome(example, problem=f"waits for `{name}`, see above", is_open=True, waits_for=name)
        before = len(self.remote.output)
        try:
            value = self.learner.run_line(example.code, example.is_call)
            texts = value if isinstance(value, list) and all(isinstance(text, str) for text in value) else []
            text, exact = map(inert, texts) if len(texts) == 2 else ("", "")
            self.done.append(example)
            self.unset -= _assigned(example.code)
            return Outcome(example, text, exact, printed=self.remote.output[before:])
        except LearnerError as error:
            self.unset |= _assigned(example.code)
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


def _assigned(code: str) -> set[str]:
    """The names that a piece of code sets."""
    return _names(code, ast.Store)


def _read(code: str) -> set[str]:
    """The names that a piece of code reads, and does not set itself."""
    return _names(code, ast.Load) - _names(code, ast.Store)


def _names(code: str, context: type[ast.expr_context]) -> set[str]:
    nodes = ast.walk(ast.parse(code))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, context)}
