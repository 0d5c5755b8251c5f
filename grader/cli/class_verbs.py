"""Verbs for who leads a class, beside `grade`: rules, feedback, explanations, similar files."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader import catalog
from grader.catalog import errors, paths
from grader.catalog.errors import WrongUse
from grader.cli.grade_verb import choose, office_of_results, sources_of
from grader.cli.options import EXERCISE, EXERCISES, LEVELS, OUT, ROSTER, RULES, cores, jobs, option, port, verb
from grader.desk import lesson
from grader.records import safe_files
from grader.records.sanitize import label

if TYPE_CHECKING:
    from grader.classroom.similar import Pair

PLATFORMS = ("moodle", "canvas", "folder")
NEXT_STEP = {
    "moodle": "In each assignment: Submissions, Actions, Upload multiple feedback files in a zip.",
    "canvas": "In each assignment: Upload submissions (once: every upload adds a comment).",
    "folder": "One page a student, under the id that grades.csv has.",
}
# `kata`, for `python -m` would look for modules among the files of the course first.
MAKEFILE = "PYTHON := {python}\ninclude {root}/Makefile\nGRADER = exec {kata} --make\n"
MOST_WITHOUT = 5  # names of students without a file
MOST_PAIRS, MOST_ENTRIES = 200, 10  # pairs that are printed (JSON has all); entries that need a person
MOST_NAMES = 30  # of a cluster


@verb("course", option("--output", metavar="FILE", type=Path, default=Path("course.toml"), help="default: course.toml"))
def write_course(options: argparse.Namespace) -> int:
    """Write course.toml, the rules of a course, with a comment on each: to be edited by the instructor.

    A folder that is not there is made; a file that is there is the instructor's, and stays. Returns the exit code.
    """
    from grader.classroom import course_rules

    if options.output.exists():
        raise WrongUse(f"{options.output} is there already, and yours. Another file: OUTPUT=…")
    try:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(course_rules.template(), "utf-8")
    except OSError as error:
        raise WrongUse(f"{options.output} cannot be written: {error.strerror}") from None
    shown_path = paths.shown(options.output)
    by_itself = options.output.resolve() == Path(course_rules.NAME).resolve()
    rules = paths.typed(options.output)
    elsewhere = f"follows it in that folder (kata grade DIR), and from here with RULES={rules}"
    how = "in this folder follows it from now on" if by_itself else elsewhere
    print(f"{shown_path} is written. Edit it: grading {how}.")
    if makefile := _write_makefile(options.output.parent):
        place = "here" if by_itself else "in that folder"
        print(f"{paths.shown(makefile)} is written: make has all commands {place}, on the files that lie there.")
    return errors.PASSED


def _write_makefile(folder: Path) -> Path | None:
    """Write a Makefile into a folder of a course outside the checkout, so that make works there. What is there stays.

    None where there is one, in the checkout itself, and where make could not read the paths.
    """
    path, kata = folder / "Makefile", Path(sys.executable).with_name("kata")
    if path.exists() or folder.resolve().is_relative_to(paths.ROOT.resolve()) or not kata.exists():
        return None
    if not all(re.fullmatch(r"[\w./~+-]+", str(needed)) for needed in (paths.ROOT, kata)):
        return None
    try:
        path.write_text(MAKEFILE.format(python=sys.executable, kata=kata, root=paths.ROOT), "utf-8")
    except OSError:
        return None
    return path


@verb(
    "handback",
    option("platform", metavar="PLATFORM", choices=PLATFORMS, help=", ".join(PLATFORMS)),
    OUT,
    RULES,
    ROSTER,
    option("--release", action="store_true", help="hand back now, whatever course.toml says"),
    option("--feedback", choices=LEVELS, help="how much students read; default: as course.toml or the last run"),
    option("--output", metavar="DIR", type=Path, help="default: handback/ in the results"),
)
def hand_back(options: argparse.Namespace) -> int:
    """Hand feedback back as a platform takes it: archives for Moodle or Canvas, or a folder with pages.

    Returns exit code 3 where a student who handed in gets nothing.
    """
    office = office_of_results(options)
    from grader.classroom import handback, private

    handback.demand(office.course, options.release)
    all_handed = list(handback.read_results(options.out, office))
    exercises, level = handback.exercises(all_handed), handback.level(options.out, office.course, options.feedback)
    folder = (options.output or options.out / handback.FOLDER) / options.platform
    if options.platform in handback.PLATFORMS:
        name = handback.PLATFORMS[options.platform][0]
        if not any(origin.platform == name for handed in all_handed for origin in handed.origins.values()):
            raise WrongUse(f"None of these hand-ins came from {name}. Give every student a page: PLATFORM=folder")
    try:
        assignments = handback.assignments(office.course, all_handed)
        missing = _write_feedback(options.platform, folder, all_handed, exercises, level, assignments)
        private.everything(options.output or folder.parent)
    except OSError as error:
        raise WrongUse(f"{error.filename} cannot be written: {error.strerror}. Another folder: OUTPUT=dir") from None
    print(NEXT_STEP[options.platform])
    for exercise, students in missing.items():
        names = ", ".join(map(label, students[:MOST_WITHOUT])) + (
            f" and {len(students) - MOST_WITHOUT} more" * (len(students) > MOST_WITHOUT)
        )
        name = handback.PLATFORMS[options.platform][0]
        print(f"{exercise}: no file of {name}'s is known of {names}. Hand theirs back by PLATFORM=folder")
    return errors.NOT_DONE if missing else errors.PASSED


def _write_feedback(
    platform: str,
    folder: Path,
    all_handed: Sequence[Any],
    exercises: Sequence[str],
    level: str,
    assignments: Sequence[Any],
) -> dict[str, list[str]]:
    """Write the files to hand back. Returns the students without a file, by assignment. Raises OSError."""
    from grader.classroom import handback

    folder.mkdir(parents=True, exist_ok=True)
    if platform == "folder":
        for file in handback.folder_files(all_handed, exercises, level):
            path = folder / file.name
            path.parent.mkdir(exist_ok=True)
            safe_files.write_whole(path, file.content)
        print(f"{folder}: {len(all_handed)} pages")
        return {}
    name, file_of = handback.PLATFORMS[platform]
    missing: dict[str, list[str]] = {}
    for assignment in assignments:
        parts = [part for handed in all_handed if (part := handed.alone(assignment))]
        files = [found for part in parts if (found := file_of(part, assignment, level))]
        others = [part.student.id for part in parts if part.origin.platform != name]
        if others:
            missing[assignment.name] = others
        if files:
            safe_files.write_whole(folder / f"{assignment.name}.zip", handback.zip_files(files))
            print(f"{folder / assignment.name}.zip: {len(files)} files")
    return missing


@verb(
    "explain",
    option("student", metavar="STUDENT", help="id, name, e-mail address, login or alias"),
    EXERCISE,
    OUT,
    RULES,
    ROSTER,
)
def explain_mark(options: argparse.Namespace) -> int:
    """Explain a mark: grade the attempt that counts again, print what was called, and what the rules make of it."""
    exercise = catalog.find(options.exercise)
    office = office_of_results(options)
    from grader.classroom import explain  # heavy: torch

    explanation = explain.explain(options.out, options.student, exercise, office)
    for line in explain.lines(explanation):
        print(line)
    return errors.FAILED if explanation.differs else errors.PASSED


@verb(
    "office",
    OUT,
    RULES,
    ROSTER,
    option("--port", metavar="N", type=port, default=0, help="of this machine; default: a free one"),
)
def serve_office(options: argparse.Namespace) -> int:
    """Show a course's results in a browser on this machine, where assistants give points and write comments."""
    import asyncio

    from grader.classroom import course_rules, store

    rules, roster = options.rules or Path(course_rules.NAME), options.roster
    if (options.out / store.NAME).exists():
        of_run, roster = sources_of(options)
        rules = of_run or rules
    if not rules.exists():
        raise WrongUse(f"{rules} is not there. What is set by hand is kept beside it: make course writes it")
    try:
        from grader.classroom.office_page import serving, views
    except ImportError:
        raise errors.missing_extra("The assistants' page needs Tornado", "office") from None
    place = views.Place(options.out, rules, roster)
    with views.open_results(place):
        pass  # what is wrong is said here, and not on a page

    def say(address: str) -> None:
        """Tell the assistants where the page is."""
        print(f"The office is open, on this machine alone. Ctrl-C closes it.\n{address}", flush=True)
        lesson.open_in_browser(address)

    asyncio.run(serving.serve(place, options.port, say))
    return errors.PASSED


@verb("forget", option("student", metavar="STUDENT", help="the id that grades.csv has"), OUT, RULES, ROSTER)
def forget_student(options: argparse.Namespace) -> int:
    """Remove one student from the results and from the tables beside course.toml."""
    from grader.classroom import forget

    for line in forget.forget(options.out, options.student, office_of_results(options, is_strict=False)):
        print(line)
    return errors.PASSED


@verb(
    "similar",
    option("submissions", metavar="SUBMISSIONS", type=Path, help="a folder or archive, as for grade"),
    EXERCISES,
    option("--format", choices=("text", "json"), default="text"),
    option("--anonymous", metavar="KEY", type=Path, help="pseudonyms; this file says whose each is"),
    option("--jobs", type=jobs, help="processes that read; default: one a core"),
)
def list_similar(options: argparse.Namespace) -> int:
    """List clusters of submissions that agree more than chance and beyond the stub, for a person to judge."""
    from grader.classroom import handins
    from grader.classroom.intake.finder import find
    from grader.classroom.roster.matching import joined_students
    from grader.classroom.similar import pairs

    submissions = find(options.submissions, catalog.find_all(options.exercises))
    print(handins.sum_line(submissions.count, "to compare"), file=sys.stderr)
    joined = joined_students(submissions, {})  # nobody copies from themselves under another of Moodle's numbers
    handed_in = [replace(one, student=joined.get(one.student, one.student)) for one in submissions.handins]
    students = handins.count_in_words(len({*submissions.students} - {*joined}), "student")
    files = handins.count_in_words(len(handed_in), "file")
    print(f"{students}, {files}: {submissions.layout}", file=sys.stderr)
    for line in handins.lines_of_doubt(submissions.needs_person, MOST_ENTRIES):
        print(label(line), file=sys.stderr)
    agreeing: Sequence[Pair] = pairs(handed_in, options.jobs or cores())
    if options.anonymous is not None:
        from grader.classroom import grades, outputs

        agreeing = outputs.anonymous(agreeing, grades.pseudonyms_of(options.anonymous, submissions.students))
    sys.stdout.write(_clusters_as_json(agreeing) if options.format == "json" else _clusters_as_text(agreeing))
    return errors.PASSED


@verb(
    "compare",
    option("terms", metavar="RESULTS", nargs="*", type=Path, help="the folders of results of two terms or more"),
    option("--ex", metavar="03,07", default="all", help="these exercises; default: all"),
    option("--format", choices=("text", "json"), default="text"),
)
def compare_terms(options: argparse.Namespace) -> int:
    """Compare the same exercises over terms: points, checks, misconceptions, without names."""
    from grader.classroom import terms

    if len(options.terms) < 2:
        raise WrongUse('Name the results of at least two terms: make compare TERMS="2025/results 2026/results"')
    chosen_folders = {exercise.folder for exercise in choose(options.ex)}
    all_terms = [terms.read(folder, chosen_folders) for folder in options.terms]
    compared = terms.compare(all_terms)
    if options.format == "json":
        print(json.dumps(terms.plain(all_terms, compared), indent=2, ensure_ascii=False))
    else:
        print("\n".join(terms.lines(all_terms, compared)))
    return errors.PASSED


def _clusters_as_text(listed: Sequence[Pair]) -> str:
    """The clusters, and below each its pairs with the lines in which they agree, for a terminal."""
    from grader.classroom.similar import clusters

    if not listed:
        return "No two submissions agree more than chance would have it.\n"
    lines: list[str] = []
    shown_count = 0
    for number, cluster in enumerate(clusters(listed), 1):
        names = [student.label for student in cluster.students]
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        lines.append(f"Cluster {number}, {len(names)} students: {', '.join(names[:MOST_NAMES])}{more}")
        for (first, second), pairs in groupby(cluster.pairs, lambda pair: (pair.student_a, pair.student_b)):
            of_both = list(pairs)[: MOST_PAIRS - shown_count]
            shown_count += len(of_both)
            if of_both:
                lines.append(f"  {first.label} and {second.label}: weight {of_both[0].total:g}")
            for pair in of_both:
                share = f"{pair.score:.0%} of what is the smaller one's own"
                lines.append(f"    {pair.exercise}: {share}, weight {pair.weight:g}")
                lines += [f"      {agreement}" for agreement in pair.evidence]
    if len(listed) > shown_count:
        lines.append(f"… and {len(listed) - shown_count} more: --format json gives all")
    lines.append("Two people may well have the same thought: look at both before you say anything.")
    return "\n".join(lines) + "\n"


def _clusters_as_json(listed: Sequence[Pair]) -> str:
    """The clusters and their pairs as JSON, schema 1."""
    from grader.classroom.similar import clusters

    rows = [
        {
            "students": [pair.student_a.id, pair.student_b.id],
            "exercise": pair.exercise,
            "score": round(pair.score, 3),
            "weight": pair.weight,
            "total": pair.total,
            "evidence": [{"a": [e.a.first, e.a.last], "b": [e.b.first, e.b.last]} for e in pair.evidence],
        }
        for pair in listed
    ]
    groups = [[student.id for student in cluster.students] for cluster in clusters(listed)]
    return json.dumps({"schema": 1, "clusters": groups, "pairs": rows}, indent=2, ensure_ascii=False) + "\n"
