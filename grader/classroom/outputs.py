"""Writes the results of a class into a folder, one student after the other, so that a class may have any size.

results/grades.csv  results/class.html  results/<student>/result.json  results/<student>/feedback.html

ledger.csv says what became of every file that was handed in, and of whom a person must still think.
"""

import contextlib
import itertools
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.catalog.errors import WrongUse
from grader.classroom import grades, private
from grader.classroom.analysis import Choice, week_of
from grader.classroom.grades import cell, csv_text, number
from grader.classroom.handins import Found, HandIn, Student, Unplaced
from grader.classroom.history import Given, Waiting
from grader.classroom.marking import NOTHING, PLAIN, Override, Standing, TotalRule
from grader.classroom.pages import class_page, feedback
from grader.classroom.pages.class_page import ROWS
from grader.classroom.similar import Pair
from grader.classroom.summary import Past, Summary
from grader.records import containment, safe_files
from grader.records.results import ExerciseResult
from grader.records.sanitize import label

LEDGER = "ledger.csv"
TITLES = ("file", "files", "student", "name", "exercise", "outcome", "points", "reason")
GRADED, UNGRADED, PERSON = "graded", "not graded", "needs a person"
REFUSED, LEFT_OUT = "refused", "left out"
EARLIER = "from an earlier download"
GRADES, PAGE, LEFT = "grades.csv", "class.html", "left"
RECORD = "result.json"
IGNORED = ".gitignore"


@dataclass(frozen=True)
class Account:
    """One line of the ledger. files: how many the entry holds, 0 where its files stand in another line."""

    file: str
    files: int
    student: Student | None
    exercise: str
    outcome: str
    points: float | None = None
    reason: str = ""


def accounts(
    found: Found,
    folder: Path,
    given: Mapping[tuple[str, str], Given],
    troubles: Mapping[tuple[str, str], str],
    of_term: Iterable[HandIn],
) -> Iterator[Account]:
    """A line for each file of this download, and for each hand-in of an earlier one that still counts.

    folder: of the download; given: the marks; troubles: why there is no mark; of_term: the hand-ins of all runs.
    """

    def of_handin(handin: HandIn, files: int, remark: str = "") -> Account:
        key = handin.student.id, handin.exercise
        outcome = UNGRADED if key in troubles else GRADED
        points = given[key].points if key in given else None
        reason = "; ".join(filter(None, (troubles.get(key, ""), handin.read_as, remark)))
        return Account(_file(handin, folder), files, handin.student, handin.exercise, outcome, points, reason)

    seen: set[tuple[str, str]] = set()
    for handin in found.handins:
        file = handin.place, handin.member
        yield of_handin(handin, int(file not in seen))  # a group hands in one file
        seen.add(file)
    for need in found.needs_person:
        who = Student(need.who[0]) if len(need.who) == 1 else None
        for index, where in enumerate(need.where):
            yield Account(
                where,
                0 if index else need.files,
                who,
                "",
                PERSON,
                None,
                f"{need.why}. {need.to_do[:1].upper()}{need.to_do[1:]}",
            )
    for unplaced in found.unplaced:
        yield Account("", 0, unplaced.student, unplaced.exercise, PERSON, None, unplaced.why)
    for passed in found.passed:
        outcome = REFUSED if passed.refused else LEFT_OUT
        yield Account(passed.where, passed.files, passed.student, "", outcome, None, passed.reason)
    current = {(handin.student.id, handin.exercise) for handin in found.handins}
    for handin in of_term:
        if (handin.student.id, handin.exercise) not in current:
            earlier = of_handin(handin, 0, EARLIER)
            yield replace(earlier, file=label(os.path.basename(handin.member or handin.place)))


def table(lines: Iterable[Account]) -> str:
    """The lines as CSV, those that need a person first."""
    rows: list[Sequence[str]] = [TITLES]
    order = {PERSON: 0, UNGRADED: 1}
    for one in sorted(lines, key=lambda one: (order.get(one.outcome, 2), one.file, one.student or Student(""))):
        who = (one.student.id, one.student.name) if one.student else ("", "")
        texts = [one.file, str(one.files), *who, one.exercise, one.outcome, number(one.points), one.reason]
        rows.append([cell(text) for text in texts])
    return csv_text(rows)


def still_waiting(
    waiting: Iterable[Waiting],
    found: Found,
    handed_in: Mapping[Student, Collection[str]],
    set_by_hand: Collection[tuple[str, str]],
) -> list[Waiting]:
    """What earlier downloads left open: files that could not be placed, of which nothing better came since.

    handed_in: of all runs; set_by_hand: (student's id, exercise) for which a person gave points.
    """
    done = {(student.id, exercise) for student, exercises in handed_in.items() for exercise in exercises}
    done |= {(handin.student.id, handin.exercise) for handin in found.handins} | set(set_by_hand)
    now = {(one.student.id, one.exercise) for one in found.unplaced}
    class_ids = {student.id for student in found.enrolled}
    still = []
    for entry in waiting:
        id, exercise = entry.unplaced.student.id, entry.unplaced.exercise
        exercises = [exercise] if exercise else entry.among
        is_done = any((id, one) in done for one in exercises) if exercises else any(id == who for who, _ in done)
        if not (is_done or (id, exercise) in now or (class_ids and id not in class_ids)):
            still.append(entry)
    return still


def settle(found: Found, overrides: Iterable[Override], entered: Collection[str]) -> Found:
    """The class without the files that wait for a person who gave points for their exercise. Everybody keeps a row.

    A file of no known exercise waits until there are points for each exercise that it could be. entered: the exercises
    of the run.
    """
    given: dict[str, set[str]] = defaultdict(set)
    for override in overrides:
        if not override.check:
            given[override.student].add(override.exercise)

    def is_settled(one: Unplaced) -> bool:
        possible = {one.exercise} if one.exercise else one.lacks or set(entered)
        return one.student.id in given and possible <= given[one.student.id]

    settled = [one for one in found.unplaced if is_settled(one)]
    left = (one for one in found.unplaced if one not in settled)
    unplaced = tuple(replace(one, lacks=one.lacks - given.get(one.student.id, set())) for one in left)
    return replace(found, unplaced=unplaced, enrolled=(*found.enrolled, *(one.student for one in settled)))


def waiting_lines(found: Found) -> tuple[str, ...]:
    """The entries for which a person is needed, one line each."""
    needs = (label(f"{', '.join(need.where)}: {need.why}") for need in found.needs_person)
    return (*(one.shown for one in found.unplaced), *needs)


def remembered(found: Found, exercises: Iterable[str], still: Iterable[Waiting]) -> list[Waiting]:
    """What the next run must know: the files that could not be placed now, and those that still wait."""
    among = tuple(exercises)
    kept = {(one.unplaced.student.id, one.unplaced.exercise) for one in still}
    new = [one for one in found.unplaced if (one.student.id, one.exercise) not in kept]
    return [*still, *(Waiting(_plain(one), tuple(sorted(one.lacks)) or among) for one in new)]


def _plain(unplaced: Unplaced) -> Unplaced:
    """The same without what its platform calls the student, which another download need not share."""
    return Unplaced(unplaced.student, unplaced.why, exercise=unplaced.exercise)


def _file(handin: HandIn, folder: Path) -> str:
    """The place of a file in the download."""
    place = handin.below(folder)
    return place.removeprefix(".:")


class Unwritten(WrongUse):
    """Some files could not be written. The store has every result: grade again to write the rest."""


def write(
    out: Path,
    students: Iterable[tuple[Student, Sequence[ExerciseResult]]],
    exercises: Sequence[str],
    form: str = "plain",
    level: str = "full",
    pairs: Callable[[], Sequence] = tuple,
    ungraded: Mapping[tuple[str, str], str] | None = None,
    submissions: Found | None = None,
    rule: TotalRule = PLAIN,
    standing: Callable[[Student, Sequence[ExerciseResult]], Standing] = lambda student, results: NOTHING,
    pseudonyms: Callable[[Summary], Mapping[str, Student]] | None = None,
    past: Callable[[Summary], Past] = lambda summary: Past(),
    choice: Choice | None = None,
) -> Summary:
    """Write all results. Each file is replaced as a whole, and one that would not change is not written.

    students: each student once, with results that were graded with reveal=False (none: nothing was handed in); they are
    taken one at a time. form: one of grades.FORMS; level: one of reports.html.LEVELS. pairs: is called for the
    grader.classroom.similar.Pair of the class. ungraded: (student's id, exercise) → why there is no result.
    submissions: all that was handed in; rule: of totals; standing: is called for what the rules of the course say of a
    student; pseudonyms: for the students on the page of the class, by id, where it is to be anonymous; past: for what
    that page shows of earlier runs; choice: of the hand-ins that it shows apart, beside all of the term.
    Raises WrongUse where two students have the same id, and Unwritten, after all other files are written, where a file
    could not be: the grades then go to standard output.
    """
    summary = Summary(exercises, rule)
    unwritten: list[str] = []  # the path and the reason

    def put(path: Path, make: Callable[..., str], *arguments: Any) -> None:
        """Write what make(*arguments) returns."""
        text = containment.optional(str(path), None, make, *arguments)
        if path.name == GRADES and text is not None and _differs(path, text):
            containment.optional("the earlier grades", None, private.keep_version, path)
        reason = _replace(path, text) if text is not None else "could not be made"
        if reason:
            unwritten.append(f"{path} {reason}")
        if reason and path.name == GRADES and text is not None:
            sys.stdout.write(text)

    def made(make: Callable[[], class_page.Page]) -> dict[str, str | None]:
        """The files of the page of the class. The page comes last, so that it never asks for rows that are missing."""
        page = containment.optional(str(out / PAGE), None, make)
        rows = {f"{ROWS}/{number}.js": part for number, part in enumerate(page.parts, 1)} if page else {}
        return {**rows, PAGE: page.text if page else None}

    troubles = by_student(ungraded or {})
    first_ids: dict[str, str] = {}  # the id that was first, by what a file system that ignores case takes it for
    for student, all_results in students:
        trouble = troubles.get(student.id, {})
        results = _order(all_results, [folder for folder in exercises if folder not in trouble])
        stands = standing(student, results)
        results = [counting(result, stands) for result in results]
        summary.add(student, results, trouble, stands.marks, stands.notes, stands.unplaced)
        folder_problem = _no_folder(out, student.id, first_ids.setdefault(student.id.casefold(), student.id))
        if folder_problem:
            unwritten.append(f"the pages of {label(student.id)} {folder_problem}")
            continue
        of_student = student, results, exercises, level, trouble, stands
        put(out / student.id / RECORD, feedback.record, *of_student)
        put(out / student.id / class_page.FEEDBACK, feedback.page, *of_student)
    put(out / GRADES, grades.table, summary, form)
    missing_count = _ungraded_files(submissions, troubles) if submissions else 0
    earlier_runs = containment.optional("the earlier runs", Past(), past, summary)
    week = containment.optional("the chosen part of the term", None, week_of, summary, choice)
    facts: dict[str, Any]
    if pseudonyms is None:
        facts = {"ungraded": missing_count, "past": earlier_runs, "week": week}
        page = made(lambda: class_page.render(summary, pairs(), submissions, **facts))
    else:
        names = pseudonyms(summary)
        facts = {
            "ungraded": missing_count,
            "linked": False,
            "week": week and week.rename(names),
            "past": earlier_runs.rename({id: s.id for id, s in names.items()}),
        }
        page = made(lambda: class_page.render(summary.rename(names), anonymous(pairs(), names), **facts))
    for name, text in page.items():
        put(out / name, lambda text=text: text)
    for path in (out / ROWS).glob("*.js"):
        if f"{ROWS}/{path.name}" not in page:  # of a larger class, or of one with its names
            path.unlink()
    if unwritten:
        more = f" (and {len(unwritten) - 1} files more)" if len(unwritten) > 1 else ""
        raise Unwritten(f"{unwritten[0]}{more}. All results are kept: grade again. To write elsewhere: OUT=…")
    return summary


def write_ledger(out: Path, lines: Iterable[Account]) -> None:
    """Write what became of every file. Raises Unwritten."""
    path = out / LEDGER
    text = containment.optional(str(path), None, table, lines)
    if reason := "could not be made" if text is None else _replace(path, text):
        raise Unwritten(f"{path} {reason}. All results are kept: grade again. To write elsewhere: OUT=…")


def keep_out_of_git(out: Path) -> None:
    """Have git ignore a folder of results, wherever it lies, unless its owner has said otherwise."""
    if not (out / IGNORED).exists():
        safe_files.write_whole(out / IGNORED, "*\n", mode=private.FILE)
    private.everything(out / IGNORED)


def move_away(out: Path, students: Sequence[str]) -> None:
    """Move the pages of students who left into the folder left/. What lies there under a name already stays."""
    for student in students:
        place = out / LEFT / student
        with contextlib.suppress(OSError):
            if (out / student).is_dir():
                place.parent.mkdir(exist_ok=True)
                number = next(n for n in itertools.count(1) if not place.with_name(_number(student, n)).exists())
                (out / student).rename(place.with_name(_number(student, number)))


def anonymous(pairs: Sequence[Pair], names: Mapping[str, Student]) -> list[Pair]:
    """The same pairs of similar submissions, under pseudonyms and without their code, in which names may stand."""
    pairs_of_class = [pair for pair in pairs if pair.student_a.id in names and pair.student_b.id in names]
    hidden = [replace(p, student_a=names[p.student_a.id], student_b=names[p.student_b.id]) for p in pairs_of_class]
    return [replace(p, evidence=tuple(replace(agreement, code=("", "")) for agreement in p.evidence)) for p in hidden]


def left_over(out: Path, summary: Summary) -> tuple[str, ...]:
    """The folders with results of an earlier run whose students have no row in the summary.

    Such a student has handed in nothing now, or a person must say which hand-in is theirs.
    """
    ids = {row.student.id for row in summary.rows}
    return tuple(sorted(path.parent.name for path in out.glob(f"*/{RECORD}") if path.parent.name not in ids))


def _no_folder(out: Path, id: str, first: str) -> str:
    """Why a student has no folder of results, or "". first: the first id that differs from this one in case alone."""
    if not id or id.startswith(".") or "/" in id or "\\" in id or "\0" in id or id.casefold() in (GRADES, PAGE, ROWS):
        return "cannot be written: the id is no name of a folder"
    # One of them may be of an earlier run: what stands for other exercises is kept.
    with contextlib.suppress(OSError):
        if id != first and (out / id).samefile(out / first):
            return f"would overwrite those of {label(first)}"
    return ""


def _order(results: Sequence[ExerciseResult], exercises: Sequence[str]) -> list[ExerciseResult]:
    """The results in the order of the exercises, without those of other exercises."""
    by_folder = {result.exercise: result for result in results}
    return [by_folder[folder] for folder in exercises if folder in by_folder]


def _number(name: str, number: int) -> str:
    return name if number == 1 else f"{name} ({number})"


def counting(result: ExerciseResult, standing: Standing) -> ExerciseResult:
    """The result of the attempt that counts."""
    mark = standing.marks.get(result.exercise)
    return mark.result if mark and mark.result else result


def by_student(ungraded: Mapping[tuple[str, str], str]) -> dict[str, dict[str, str]]:
    """Student's id → exercise → reason."""
    troubles: dict[str, dict[str, str]] = {}
    for (student, exercise), reason in ungraded.items():
        troubles.setdefault(student, {})[exercise] = reason
    return troubles


def _ungraded_files(submissions: Found, troubles: Mapping[str, Mapping[str, str]]) -> int:
    """The number of files that could not be graded. A file that a group handed in counts once."""
    return len({(h.place, h.member) for h in submissions.handins if h.exercise in troubles.get(h.student.id, ())})


def _differs(path: Path, text: str) -> bool:
    """Whether a file is there, with another text."""
    with contextlib.suppress(OSError):
        return path.read_bytes() != text.encode("utf-8", "backslashreplace")
    return False


def _replace(path: Path, text: str) -> str:
    """Replace the file as a whole where its text changes. Returns why it could not be written, or ""."""
    data = text.encode("utf-8", "backslashreplace")
    try:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            if path.read_bytes() == data:
                return ""
        path.parent.mkdir(parents=True, exist_ok=True)
        safe_files.write_whole(path, data)
    except OSError as error:
        return f"cannot be written: {error.strerror}"
    return ""
