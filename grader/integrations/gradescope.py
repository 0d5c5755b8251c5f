"""Gradescope: the results.json that it shows, and the zip from which it builds its autograder.

The fields are those of https://gradescope-autograders.readthedocs.io/en/latest/specs/

/autograder/submission_metadata.json tells who handed in, when, and until when they might
(https://gradescope-autograders.readthedocs.io/en/latest/submission_metadata/). Which attempt counts is Gradescope's own
setting. An assignment there knows nothing of the others, so `drop_lowest`, a rule for the whole course, is not applied.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from grader.catalog import Exercise, paths
from grader.classroom import course_rules, marking
from grader.classroom import marking as given_points
from grader.classroom.course_rules import NO_BRAKE, Brake, Course, Times
from grader.classroom.grades import number
from grader.classroom.marking import Attempt, Lateness, Mark, Override, TotalRule, lateness, mark
from grader.classroom.office import Office
from grader.integrations import bundle
from grader.integrations.one_student import Graded
from grader.records.results import NOT_GRADED, PASSED, CheckResult, ExerciseResult
from grader.records.sanitize import label

EXTRA = "attention_kata"  # our part of results.json's extra_data, which Gradescope gives back with later submissions
MAX_BYTES = 16 << 20  # of Gradescope's metadata
SCRIPTS = ("setup.sh", "run_autograder")
BLAMELESS = "That is not your code's fault. Tell your instructor."


@dataclass(frozen=True)
class Earlier:
    """An earlier submission to the same assignment. results: its results.json, as Gradescope kept it."""

    time: datetime
    results: Mapping[str, Any]

    @property
    def is_graded(self) -> bool:
        """Whether it was graded while a brake was on. What the brake held back, or the grader failed at, was not."""
        about = (self.results.get("extra_data") or {}).get(EXTRA)
        return isinstance(about, dict) and about.get("graded") is True


@dataclass(frozen=True)
class Ruled:
    """The rules for one submission.

    submitters: ids and e-mail addresses of those who handed in, and their pseudonyms; due: Gradescope's date; earlier:
    the submissions before this one.
    """

    course: Course | None = None
    overrides: tuple[Override, ...] = ()
    submitters: tuple[str, ...] = ()
    handed_in: datetime | None = None
    due: datetime | None = None
    earlier: tuple[Earlier, ...] = ()

    @property
    def held(self) -> str:
        """Why this submission is not graded now, for the student; "" where it is."""
        return self._brake.held([one.time for one in self.earlier if one.is_graded], self._now)

    @property
    def attempt(self) -> str:
        """Which graded attempt this one is; "" without a brake."""
        return self._brake.standing([*(one.time for one in self.earlier if one.is_graded), self._now])

    @property
    def has_brake(self) -> bool:
        """Whether attempts are counted."""
        return bool(self._brake)

    @property
    def _brake(self) -> Brake:
        return self.course.brake if self.course else NO_BRAKE

    @property
    def _now(self) -> datetime:
        return self.handed_in or datetime.now(timezone.utc)

    def apply(self, graded: Graded) -> tuple[Graded, float | None, list[str]]:
        """The results with overridden checks, the score (None: the sum of the tests), and a line for each exercise."""
        if self.course is None:
            return graded, None, []
        # The zip names a student in several ways, with an override for each.
        overrides = dict.fromkeys(replace(o, student="") for o in self.overrides if o.student in self.submitters)
        results, marks = [], []
        for exercise, result in graded.results:
            own = [override for override in overrides if override.exercise == exercise.folder]
            marks.append(self._mark(exercise.folder, result, own))
            results.append((exercise, given_points.apply_overrides(result, own) if result is not None else None))
        exercises = [exercise for exercise, _ in results]
        score = marking.total([e.folder for e in exercises], [m.points for m in marks], _most(exercises), self._rule)
        lines = [self._line(exercise, mark) for exercise, mark in zip(exercises, marks)]
        lines.append(f"Score by the rules of the course: {number(score)} of {number(maximum(exercises, self.course))}")
        return replace(graded, results=tuple(results)), score, lines

    def weight(self, exercise: str) -> float:
        """The factor of an exercise's points in the assignment."""
        return self._rule.weight(exercise)

    @property
    def _rule(self) -> TotalRule:
        return TotalRule(self.course.weights if self.course else {})

    def _mark(self, exercise: str, result: ExerciseResult | None, own: Sequence[Override]) -> Mark:
        """The mark of this submission for one exercise."""
        assert self.course is not None
        attempts = [Attempt("", result, self._late(exercise))] if result is not None else []
        return mark(self.course, exercise, attempts, own)

    def _late(self, exercise: str) -> Lateness:
        """The lateness of the submission for an exercise, by course.toml, else by Gradescope's date."""
        assert self.course is not None
        extended_names = [name for name in self.submitters if exercise in self.course.extensions.get(name, {})]
        extended_name = extended_names[0] if extended_names else ""
        deadline = self.course.deadline(extended_name, "", exercise) or self.due
        return lateness(
            self.course.late, self.handed_in, False, deadline, self.course.last(extended_name, "", exercise)
        )

    def _line(self, exercise: Exercise, own: Mark) -> str:
        """The points of one exercise and what made them."""
        most, weight = exercise.max_points, self.weight(exercise.folder)
        words = f" ({'; '.join(own.words)})" if own.words else ""
        line = f"{exercise.folder[:2]} {exercise.title}: {number(own.points, '0')} of {number(most)} points{words}"
        if weight != 1:
            line += f", times {weight:g}: {number((own.points or 0.0) * weight)} of {number(most * weight)}"
        return line


NO_RULES = Ruled()


def read_rules(rules: Path, metadata: Path) -> Ruled:
    """The rules for the submission that this metadata tells of. Raises WrongUse for a wrong course.toml."""
    course, facts = course_rules.read_rules(rules), _facts(metadata)
    users = [user for user in facts.get("users") or [] if isinstance(user, dict)]
    names = tuple(str(user[key]) for user in users for key in ("sid", "email", "id") if user.get(key))
    identities = (*names, *map(pseudonym, names))
    own_due_dates = [_time((user.get("assignment") or {}).get("due_date")) for user in users]
    due = next((time for time in own_due_dates if time), None) or _time((facts.get("assignment") or {}).get("due_date"))
    overridden = given_points.read_overrides(rules.with_name(given_points.OVERRIDES))
    return Ruled(course, overridden, identities, _time(facts.get("created_at")), due, tuple(_earlier(facts)))


def maximum(exercises: Sequence[Exercise], course: Course) -> float:
    """The points to set for an assignment with these exercises."""
    return marking.maximum([e.folder for e in exercises], _most(exercises), TotalRule(course.weights))


def files(office: Office) -> dict[str, bytes]:
    """The rules that go into the autograder's zip, by the name of the file.

    Students' code runs beside them. So they hold what one submission needs: students by pseudonyms, no reasons of
    overrides, no sections, no names of your own files. Who is on the roster goes by every name that Gradescope may
    know.
    """
    names = {override: _names(office, override.student) for override in office.overrides}
    rows = [
        f"{pseudonym(name)},{override.exercise},{override.check},{number(override.points)}"
        for override, all_names in names.items()
        for name in all_names
    ]
    table = "student,exercise,check,points"
    return {"course.toml": _text(_rules(office)), given_points.OVERRIDES: _text([table, *rows])}


def pseudonym(name: str) -> str:
    """The name under which a student is in the zip: a digest, equal for equal names in any case."""
    return "student-" + hashlib.sha256(f"attention kata {name.strip().casefold()}".encode()).hexdigest()[:32]


def advice(exercises: Sequence[Exercise], office: Office) -> Iterator[str]:
    """Lines for the instructor who makes the zip: the points to set, and which rules have no effect there."""
    course = office.course
    yield f"Set the assignment's points to {number(maximum(exercises, course))} on Gradescope."
    if course.brake:
        yield f'Say in the description of the assignment: "{course.brake.announcement}"'
    if course.drop_lowest:
        yield (
            f"drop_lowest = {course.drop_lowest} is not applied there: it is for the whole course, and an assignment "
            "on Gradescope knows no other."
        )
    if course.sections:
        yield "[sections] is not applied there: give sections their due dates on Gradescope."
    students = {override.student for override in office.overrides} | set(course.extensions)
    unknown = sorted(student for student in students if not any("@" in name for name in _names(office, student)))
    if unknown:
        named = ", ".join(map(label, unknown[:5])) + (f" and {len(unknown) - 5} more" if len(unknown) > 5 else "")
        yield (
            "Gradescope knows students by e-mail address and by the student id in its own roster. Overrides and "
            f"extensions of {named} match somebody there only if that is this student id. With `roster` in course.toml "
            "(a file with e-mail addresses) they go by the address."
        )


def results(graded: Graded, hidden: str = "visible", ruled: Ruled = NO_RULES) -> dict[str, Any]:
    """The content of results.json. hidden: who sees the hidden checks; nobody sees their inputs.

    ruled: the rules of the course, which change the results and the score.
    """
    graded, score, lines = ruled.apply(graded)
    tests = [
        _weigh(test, ruled.weight(exercise.folder))
        for exercise, result in graded.results
        for test in _tests(exercise, result, hidden)
    ]
    messages = [f"{result.exercise}: {_message(result)}" for _, result in graded.results if result and result.message]
    misplaced = [f"not graded: {entry.path}: {entry.reason}" for entry in graded.misplaced]
    if ruled.has_brake and graded.complete:  # a failure of the grader takes no attempt away
        lines = [ruled.attempt, *lines]
    return {
        "execution_time": graded.seconds,
        **({} if score is None else {"score": score}),
        "output": "\n".join([*lines, *messages, *misplaced]),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
        **({"extra_data": {EXTRA: {"graded": graded.complete}}} if ruled.has_brake else {}),
    }


def held(ruled: Ruled) -> dict[str, Any]:
    """The content of results.json for a submission that is not graded now: the last graded one's, which stays."""
    last = max((one for one in ruled.earlier if one.is_graded), key=lambda one: one.time)
    kept = {key: last.results[key] for key in ("score", "tests", "visibility") if last.results.get(key) is not None}
    lines = [ruled.held, "", f"From your graded attempt of {last.time:%Y-%m-%d %H:%M %Z}:", last.results.get("output")]
    return {
        "output": "\n".join(line for line in lines if line is not None),
        "output_format": "text",
        "stdout_visibility": "hidden",
        **kept,
        "extra_data": {EXTRA: {"graded": False}},
    }


def failure(reason: str) -> dict[str, Any]:
    """The content of results.json where the autograder could not do its work."""
    return {
        "score": 0,
        "output": f"This submission was not graded: {reason} {BLAMELESS}",
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
    }


def package(
    exercises: Sequence[Exercise], seed: int | None, hidden: str, accept_tier: str | None, office: Office | None = None
) -> bytes:
    """The autograder zip. seed None: a new secret in every run; otherwise every run uses this seed.

    office: the rules of the course, which go into the zip without what names students: see gradescope_rules.files.
    """
    kata = dict(bundle.whole())
    arguments = [",".join(exercise.folder for exercise in exercises), "--hidden", hidden]
    arguments += ["--seed", str(seed)] if seed is not None else []
    arguments += ["--accept-tier", accept_tier] if accept_tier else []
    content = {f"kata/{name}": data for name, data in kata.items()}
    content |= {name: paths.module(f"integrations/templates/{name}").read_bytes() for name in SCRIPTS}
    if office is not None:
        content |= files(office)
        arguments += ["--rules", f"../{course_rules.NAME}"]
    content["options"] = ("\n".join(arguments) + "\n").encode()
    return bundle.zip_files(content, programs=SCRIPTS)


def _names(office: Office, student: str) -> tuple[str, ...]:
    """All names by which Gradescope may know a student."""
    person = office.people.get(student)
    return tuple(dict.fromkeys((student, *(person.keys if person else ()))))


def _rules(office: Office) -> Iterator[str]:
    """course.toml again, as far as it concerns one submission."""
    course = office.course
    yield from ("[late]", f'per = "{course.late.per}"', f"percent = {course.late.percent}", f"cap = {course.late.cap}")
    yield f"grace_minutes = {course.late.grace_s / 60}"
    yield from ("[brake]", f"attempts = {course.brake.attempts}", f"wait_minutes = {course.brake.wait_s / 60}")
    for name, times in (("deadlines", course.deadlines), ("cut_off", course.cut_off)):
        yield from (f"[{name}]", *_times(times))
    yield from ("[weights]", *(f'"{exercise}" = {weight}' for exercise, weight in course.weights.items()))
    for student, times in course.extensions.items():
        for name in _names(office, student):
            yield from (f'[extensions."{pseudonym(name)}"]', *_times(times))


def _times(times: Times) -> Iterator[str]:
    for exercise, time in times.items():
        yield f'"{exercise}" = {time.isoformat()}'


def _text(lines: Iterable[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode()


def _most(exercises: Iterable[Exercise]) -> list[float]:
    return [exercise.max_points for exercise in exercises]


def _facts(metadata: Path) -> Mapping[str, Any]:
    """Gradescope's metadata; {} where there is none, as in a try without Gradescope."""
    try:
        with metadata.open("rb") as file:
            content = json.loads(file.read(MAX_BYTES))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _time(text: Any) -> datetime | None:
    """ "2018-07-01T14:22:32.365935-07:00" as a time."""
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return time if time.tzinfo else None


def _earlier(facts: Mapping[str, Any]) -> Iterator[Earlier]:
    """The submissions before this one, as the metadata has them."""
    for entry in facts.get("previous_submissions") or []:
        time = _time(entry.get("submission_time")) if isinstance(entry, dict) else None
        if time is not None and isinstance(entry.get("results"), dict):
            yield Earlier(time, entry["results"])


def _tests(exercise: Exercise, result: ExerciseResult | None, hidden: str) -> Iterator[dict[str, Any]]:
    """The tests of one exercise: one for each check, or one for all where there is no verdict."""
    if result is None:
        file = f"{exercise.folder}/{exercise.slug}.py"
        name = f"{exercise.folder[:2]} {exercise.title}"
        yield _test(name, exercise.folder[:2], 0.0, exercise.max_points, f"nothing was handed in: {file}", "visible")
        return
    if result.status == NOT_GRADED:
        name = f"{exercise.folder[:2]} {exercise.title}"
        yield _test(name, exercise.folder[:2], 0.0, exercise.max_points, _message(result), "visible")
        return
    for nth, check in enumerate(result.checks, 1):
        name = f"{exercise.folder[:2]} {exercise.title}: {check.title}"
        visibility = hidden if check.hidden else "visible"
        place = f"{exercise.folder[:2]}.{nth}"
        yield _test(name, place, check.points, check.max_points, _output(check), visibility, check.outcome == PASSED)


def _weigh(test: dict[str, Any], weight: float) -> dict[str, Any]:
    """A test with its share of the assignment's points."""
    return test | {field: round(test[field] * weight, 6) for field in ("score", "max_score")}


def _message(result: ExerciseResult) -> str:
    """The message about the whole file. Errors of the grader are not shown to students."""
    return f"not graded. {BLAMELESS}" if result.status == NOT_GRADED else result.message


def _test(
    name: str, number: str, score: float, max_score: float, output: str, visibility: str, passed: bool = False
) -> dict[str, Any]:
    """One test."""
    return {
        "name": name,
        "number": number,
        "score": score,
        "max_score": max_score,
        "status": "passed" if passed else "failed",
        "output": output,
        "output_format": "text",
        "visibility": visibility,
    }


def _output(check: CheckResult) -> str:
    """A check's message and diagnosis."""
    return "\n".join(filter(None, [check.message, f"likely: {check.diagnosis}" if check.diagnosis else ""]))
