"""Runs every check of an exercise on one submission: their outcomes, messages and diagnoses."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from grader.catalog import paths
from grader.judge import messages
from grader.judge.collection import Check
from grader.judge.diagnosis import Diagnostician
from grader.judge.failure import Failure
from grader.judge.proxy import Learner
from grader.judge.recording import Key, Recording, Tried
from grader.judge.session import Session
from grader.records import containment
from grader.records.own_time import own_time
from grader.records.results import FAILED, NOT_CHECKED, PASSED, CheckResult, Settings
from grader.records.sanitize import inert
from grader.records.submission import Submission
from grader.sandbox.call_results import LearnerError
from grader.sandbox.local import Local
from grader.sandbox.remote import Remote

WRONG = "the answer is not the right one"
UNBOUND = re.compile(r"name '(\w+)' is not defined\b.*", re.DOTALL)
E = TypeVar("E", bound=BaseException)


@dataclass(frozen=True)
class Explained:
    """The failures of the submission that was examined last, and their diagnoses.

    passed: ids of checks; checks: all that there are.
    """

    failures: dict[str, Failure]
    passed: set[str]
    diagnoses: dict[str, str]
    checks: tuple[Check, ...]

    def documented(self) -> "Explained":
        """The failures of the documented checks alone, without diagnoses: hidden checks may have led to those."""
        checks = tuple(check for check in self.checks if not check.hidden)
        return replace(self.only(checks), diagnoses={})

    def begun(self) -> "Explained":
        """The same without functions that are not started or missing, and without checks of large inputs."""
        failures = {name: failure for name, failure in self.failures.items() if failure.is_there}
        return replace(self, failures=failures).only(tuple(check for check in self.checks if not check.measured))

    def only(self, checks: tuple[Check, ...]) -> "Explained":
        """The same for these checks alone."""
        names = {check.id for check in checks}
        failures = {name: failure for name, failure in self.failures.items() if name in names}
        return Explained(failures, self.passed & names, self.diagnoses, checks)


class Checker:
    """Checks one submission after the other in one pytest session.

    explained: of the last submission; None where no check failed or nothing was begun. taken_for_passed: ids of checks
    that are not run, because their outcome is known. called: the functions that the checks called in it.
    """

    explained: Explained | None = None
    taken_for_passed: frozenset[str] = frozenset()
    called: frozenset[str] = frozenset()

    def __init__(self, session: Session, settings: Settings):
        self.session, self.settings, self.exercise = session, settings, session.exercise
        self.diagnostician = Diagnostician(session)
        self.recording: Recording | None = None

    def record_requests(self) -> None:
        """From now on send the requests of each check together, which is faster from the second submission on."""
        has_solution = paths.solution(self.exercise.folder).exists()  # a learner's bundle has none
        if has_solution and self.recording is None and self.settings.device == "cpu":
            self.recording = Recording(self.session, self.subject)
            self.diagnostician.wrong_versions.caches_runs = True

    def subject(self, connection: Remote | Local) -> Learner:
        """The proxy that the checks are given."""
        learner = Learner(connection, self.settings.device)
        for rule in self.exercise.forbidden:
            learner.watched |= dict.fromkeys(rule.functions, rule)
        return learner

    def verdicts(self, submission: Submission, subject: Learner, remote: Remote) -> tuple[list[CheckResult], bool, str]:
        """The result of every check in the order of the points, whether anything was begun, and a reason.

        The reason says why the source defines nothing of the exercise; "" where it defines something.
        """
        results: dict[str, CheckResult] = {}
        keys: dict[str, Key | None] = {}
        failures: dict[str, Failure] = {}
        self.called = frozenset()
        for check in self.session.checks:
            name = check.id
            blocker = self.blocker(check.after, results)
            wrong = {f: found for f, checks in check.each.items() if (found := self.blocker(checks, results))}
            if blocker is None and wrong.keys() == check.each.keys():
                blocker = next(iter(wrong.values()), None)
            if blocker is not None:
                reason = f"not checked: first fix “{results[blocker].title}”"
                results[name] = self.result(check, NOT_CHECKED, reason)
                continue
            if name in self.taken_for_passed:
                results[name] = self.result(check, PASSED)
                continue
            subject.stand_ins = dict.fromkeys(wrong, self.session.stand_in()) if wrong else {}
            keys[name], error, calls = self.judge(check, subject, remote)
            self.called |= {call.function for call in calls}
            if error is None and wrong:
                titles = {function: results[found].title for function, found in wrong.items()}
                results[name] = self.passed_in_part(check, titles)
                continue
            if error is None:
                results[name] = self.result(check, PASSED, "\n".join(subject.notes))
                continue
            failures[name] = Failure(check, error, calls)
            last_call = calls[-1] if calls else None
            arguments = (_root_error(error, remote), last_call, submission, self.settings.reveal)
            message = containment.optional("the words for a failed check", WRONG, messages.failure, *arguments)
            results[name] = self.result(check, FAILED, inert(message))
        subject.stand_ins = {}
        passed = {name for name, result in results.items() if result.outcome == PASSED}
        begun = bool(passed) or not all(failure.is_not_started for failure in failures.values())
        if begun and self.settings.diagnose:
            with own_time.part("diagnosis"):
                diagnoses = self.sentences(failures, passed, keys, subject)
            self.explained = Explained(failures, passed, diagnoses, self.session.checks) if failures else None
            for name, sentence in diagnoses.items():
                results[name] = replace(results[name], diagnosis=sentence)
        reason = self.absence(failures, passed, submission, remote)
        return [results[name] for name in self.exercise.points if name in results], begun, reason

    def absence(self, failures: dict[str, Failure], passed: set[str], submission: Submission, remote: Remote) -> str:
        """Why the source defines nothing that the checks ask for; "" where it defines something."""
        errors = [failure.error for failure in failures.values()]
        missing_errors = [error for error in errors if isinstance(error, LearnerError) and error.kind == "missing"]
        if passed or missing_errors != errors:
            return ""
        on_loading = [root for error in missing_errors if (root := _root_error(error, remote)) is not error]
        on_loading += [left_out.error for left_out in remote.left_out or ()]
        return messages.learner_error(on_loading[0], submission) if on_loading else submission.reason

    def blocker(self, names: Iterable[str], results: Mapping[str, CheckResult]) -> str | None:
        """The first of these checks that was not passed, not even in part."""
        return next((name for name in names if name in results and not results[name].points), None)

    def passed_in_part(self, check: Check, wrong: Mapping[str, str]) -> CheckResult:
        """A promise that all functions keep whose own checks pass. wrong: the others, with the title of a failed check.

        It gives their share of the points.
        """
        share = 1 - len(wrong) / len(check.each)
        first = next(iter(wrong.values()))
        message = f"checked without {' and '.join(wrong)}, for a part of the points: first fix “{first}”"
        result = self.result(check, NOT_CHECKED, message)
        return replace(result, points=round(result.max_points * share, 2))

    def judge(self, check: Check, subject: Learner, remote: Remote) -> Tried:
        """Run one check: the key of the verdict where it can be cached, the error, the calls."""
        if self.recording is None or subject.stand_ins:
            return (None, *self.session.run(check, subject))
        # Prints are shown at a learner's desk, so there every answer is read.
        return self.recording.run(check, subject, remote, uses_verdicts=not self.settings.reveal)

    def sentences(
        self, failures: dict[str, Failure], passed: set[str], keys: dict[str, Key | None], subject: Learner
    ) -> dict[str, str]:
        """The diagnosis of each failed check. That of the same failures of an earlier submission is cached."""
        key = (tuple((name, keys[name]) for name in failures), frozenset(passed))
        if self.recording is None or any(keys[name] is None for name in failures):
            return self.diagnostician.sentences(failures, passed, subject)
        sentences = self.recording.sentences.get(key)
        if sentences is None:
            sentences = self.diagnostician.sentences(failures, passed, subject)
            if not self.diagnostician.tried:
                self.recording.sentences.put(key, sentences)
        return sentences

    def result(self, check: Check, outcome: str, message: str = "") -> CheckResult:
        """The result of one check, with its points."""
        points = self.exercise.points[check.id]
        return CheckResult(
            id=check.id,
            title=check.title,
            outcome=outcome,
            points=points if outcome == PASSED else 0.0,
            max_points=points,
            message=message,
            hidden=check.hidden,
            task=check.task,
        )


def _root_error(error: E, remote: Remote) -> E | LearnerError:
    """The error of a check; for a missing name that the source defines, the error with which that failed on loading.

    A NameError keeps its place, and gains the statement that failed on loading and should have bound the name.
    """
    if isinstance(error, LearnerError) and error.facts.get("type") == "NameError":
        name = UNBOUND.fullmatch(str(error.facts.get("message", "")))
        left_out = remote.why_missing(name[1]) if name else None
        return LearnerError(error.kind, error.facts | {"left_out": left_out}, error.call) if left_out else error
    if isinstance(error, LearnerError) and error.kind == "missing":
        left_out = remote.why_missing(str(error.facts.get("missing", "")))
        return left_out.error if left_out else error
    return error
