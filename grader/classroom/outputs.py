"""Writes the results of a class into a folder, one student after the other, so that a class may have any size.

results/grades.csv  results/class.html  results/<student>/result.json  results/<student>/feedback.html
"""

import contextlib
import itertools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.catalog.errors import WrongUse
from grader.classroom import accounts, grades, private
from grader.classroom.handins import Found, Student
from grader.classroom.marking import NOTHING, PLAIN, Standing, TotalRule
from grader.classroom.pages import class_page, feedback
from grader.classroom.pages.class_page import ROWS
from grader.classroom.similar import Pair
from grader.classroom.summary import Past, Summary
from grader.classroom.week import Choice, week_of
from grader.records import containment, safe_files
from grader.records.results import ExerciseResult
from grader.records.sanitize import label

GRADES, PAGE, LEFT = "grades.csv", "class.html", "left"
RECORD = "result.json"
IGNORED = ".gitignore"


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
        return {**rows, PAGE: page and page.text}

    troubles = by_student(ungraded or {})
    first_ids: dict[str, str] = {}  # the id that was first, by what a file system that ignores case takes it for
    for student, all_results in students:
        trouble = troubles.get(student.id, {})
        results = _ordered(all_results, [folder for folder in exercises if folder not in trouble])
        stands = standing(student, results)
        results = [counting(result, stands) for result in results]
        summary.add(student, results, trouble, stands.marks, stands.notes)
        folder_problem = _no_folder(out, student.id, first_ids.setdefault(student.id.casefold(), student.id))
        if folder_problem:
            unwritten.append(f"the pages of {label(student.id)} {folder_problem}")
            continue
        facts = student, results, exercises, level, trouble, stands
        put(out / student.id / RECORD, feedback.record, *facts)
        put(out / student.id / class_page.FEEDBACK, feedback.page, *facts)
    put(out / GRADES, grades.table, summary, form)
    missing_count = _ungraded_files(submissions, troubles) if submissions else 0
    earlier_runs = containment.optional("the earlier runs", Past(), past, summary)
    week = containment.optional("the chosen part of the term", None, week_of, summary, choice)
    if pseudonyms is None:
        facts = {"ungraded": missing_count, "past": earlier_runs, "week": week}
        page = made(lambda: class_page.render(summary, pairs(), submissions, **facts))
    else:
        names = pseudonyms(summary)
        facts = {
            "ungraded": missing_count,
            "linked": False,
            "week": week and week.renamed(names),
            "past": earlier_runs.renamed({id: s.id for id, s in names.items()}),
        }
        page = made(lambda: class_page.render(summary.renamed(names), anonymous(pairs(), names), **facts))
    for name, text in page.items():
        put(out / name, lambda text=text: text)
    for path in (out / ROWS).glob("*.js"):
        if f"{ROWS}/{path.name}" not in page:  # of a larger class, or of one with its names
            path.unlink()
    if unwritten:
        more = f" (and {len(unwritten) - 1} files more)" if len(unwritten) > 1 else ""
        raise Unwritten(f"{unwritten[0]}{more}. All results are kept: grade again. To write elsewhere: OUT=…")
    return summary


def write_ledger(out: Path, lines: Iterable[accounts.Account]) -> None:
    """Write what became of every file. Raises Unwritten."""
    path = out / accounts.LEDGER
    text = containment.optional(str(path), None, accounts.table, lines)
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
                number = next(n for n in itertools.count(1) if not place.with_name(_numbered(student, n)).exists())
                (out / student).rename(place.with_name(_numbered(student, number)))


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


def _ordered(results: Sequence[ExerciseResult], exercises: Sequence[str]) -> list[ExerciseResult]:
    """The results in the order of the exercises, without those of other exercises."""
    by_folder = {result.exercise: result for result in results}
    return [by_folder[folder] for folder in exercises if folder in by_folder]


def _numbered(name: str, number: int) -> str:
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
