"""Verbs for who teaches: grade a class or a few files, explain a mark, fill a gradebook, and serve platforms."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import gc
import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader import catalog
from grader.catalog import errors, paths
from grader.catalog.errors import NoSuchFile, WrongUse
from grader.cli.options import EXERCISES, NO_SANDBOX, VISIBLE, Option, cores, jobs, seconds, verb
from grader.integrations import bundle
from grader.records import safe_files, submission
from grader.records.results import Settings
from grader.records.sanitize import label
from grader.sandbox.forkserver import DEVICES, ForkServer, demand_device, pick_device

if TYPE_CHECKING:
    from grader.classroom.marks import Found
    from grader.integrations.one_student import Graded

RESULTS, BUNDLE, COURSE = Path("results"), Path(f"{bundle.TOP}.zip"), Path("course")


def column(text: str) -> tuple[str, str]:
    """The value of --column, KEY=TITLE. Raises ArgumentTypeError for anything else."""
    key, equals, title = text.partition("=")
    if not equals or not key.strip() or not title.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is no column. Write KEY=TITLE, as in id=Matrikelnummer")
    return key.strip(), title.strip()


COLUMN = Option(
    "--column",
    metavar="KEY=TITLE",
    type=column,
    action="append",
    default=[],
    help="a column by its title: id, name, email or login, and for fill also exercises (03, or 01,02 for a sum)",
)
OUT = Option("--out", metavar="DIR", type=Path, default=RESULTS, help=f"results; default: {RESULTS}")


@verb(
    "grade",
    Option("submissions", metavar="SUBMISSIONS", nargs="?", type=Path, help="of a class: a folder, a zip or a tar"),
    Option("--ex", metavar="03,07", default="all", help="these exercises; default: all"),
    Option("--files", metavar="FILE", nargs="+", type=Path, help="instead of a class: these files, of --ex"),
    Option("--format", choices=("text", "json"), default="text", help="of the report on files"),
    Option("--device", choices=DEVICES, help="default: cpu"),
    Option("--seed", type=int, help="of the fresh inputs, the same for all; default: a new secret of the run"),
    Option("--timeout", type=seconds, metavar="S", help="seconds for one call"),
    Option("--tier", choices=("A", "B", "D"), help="this sandbox and no other; default: the strongest there is"),
    NO_SANDBOX,
    Option("--students", metavar="LIST.csv", type=Path, help="who is in the class: any CSV with ids"),
    Option("--names", metavar="FILE", type=Path, help="whose what is: found,student,exercise"),
    COLUMN,
    OUT,
    Option("--assignment", metavar="NAME", help="of SUBMISSIONS, a course of nbgrader"),
    Option("--jobs", metavar="N", type=jobs, help="processes; default: one a core"),
    Option("--dask", metavar="ADDRESS", help="grade on a Dask cluster: its scheduler's address or file"),
    Option("--feedback", choices=("full", "names"), default="full", help="how much students read; default: full"),
)
def grade(options: argparse.Namespace) -> int:
    """Grade others' files in a sandbox: what a whole class handed in, or a few files."""
    if options.submissions is not None and not options.files:
        return run_class(options)
    if options.files and options.ex != "all" and options.submissions is None:
        return run_files(options)
    raise WrongUse(
        "Grade what a class handed in: make grade SUBMISSIONS=download\n"
        'Or the files of one exercise: make grade EX=03 FILES="a.py b.py"\nSee: kata grade --help'
    )


def run_class(options: argparse.Namespace) -> int:
    """Grade what a class handed in. Returns exit code 3 if something needs a person."""
    from grader.classroom.grade import How
    from grader.classroom.run import Plan, Written, run
    from grader.classroom.show import Show

    found = _find_in_course(options) if options.assignment else None
    how = How(
        device=pick_device(options.device or "cpu"),
        seed=options.seed,
        timeout=options.timeout,
        jobs=options.jobs or cores(),
        tier=options.tier,
        accept_tier=options.accept_tier,
        dask=options.dask,
    )
    plan = Plan(
        download=options.submissions,
        out=options.out,
        exercises=catalog.find_all(options.ex),
        named=options.ex.strip().lower() != "all",
        people=options.students,
        columns=dict(options.column),
        decisions=options.names,
        level=options.feedback,
        how=how,
    )
    needs_person = False
    with contextlib.closing(Show()) as show:
        try:
            for event in run(plan, found):
                show.show(event)
                needs_person = isinstance(event, Written) and event.is_unfinished
        except KeyboardInterrupt:
            raise KeyboardInterrupt("stopped. What is graded is kept: type the same command, and it goes on") from None
    return errors.NOT_DONE if needs_person else errors.PASSED


def _find_in_course(options: argparse.Namespace) -> Found:
    """What was submitted for an assignment of a course of nbgrader, whose settings hold unless an option is given.

    The results lie in the course, where nbgrader's autograde looks for them.
    """
    if options.out != RESULTS:
        raise WrongUse("The results of a course lie in it, where nbgrader finds them: leave OUT=… away.")
    try:
        from grader.integrations.nbgrader import submitted
    except ImportError:
        raise errors.missing_extra("Grading its courses needs nbgrader", "classroom") from None
    course = submitted.open_course(options.submissions, options.assignment)
    for name, value in submitted.settings(course).items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    handed_in = submitted.find(course)
    options.ex, options.submissions, options.out = handed_in.exercise, handed_in.folder, handed_in.results
    return handed_in.found


def run_files(options: argparse.Namespace) -> int:
    """Grade a few files. Returns exit code 1 where one did not pass, 3 where one could not be graded."""
    exercise = catalog.find(options.ex)
    for path in options.files:
        if not os.path.lexists(path):  # said at once, before the fork server starts
            raise NoSuchFile(f"There is no file {paths.shown(path)}.")
    device = pick_device(options.device or "cpu")
    with ForkServer(device, options.tier) as fork_server:
        from grader.judge import grading  # heavy: it imports torch while the fork server does
        from grader.records.seeds import secret_seed

        demand_device(device)
        sandbox = fork_server.demand(options.accept_tier)
        seed = options.seed if options.seed is not None else secret_seed()
        settings = Settings(device=device, seed=seed, timeout=options.timeout, reveal=False)
        gc.freeze()
        gc.enable()  # the answers of one file must be freed while the next is graded
        read = partial(submission.read, is_own=False)
        handed_in = (submission.attempt(partial(read, path), paths.shown(path)) for path in options.files)
        results = grading.results(exercise, handed_in, fork_server, settings)
        graded = [replace(result, sandbox=sandbox) for result in results]
    from grader.reports import deliver, terminal
    from grader.reports import json as as_json

    if options.format == "json":
        report = {"schema": as_json.SCHEMA, "results": [as_json.record(result) for result in graded]}
        deliver(json.dumps(report, indent=2, ensure_ascii=False) + "\n")
    else:
        for result in graded:
            deliver(f"{label(result.submission)}: {terminal.plain(result)}\n")
    return errors.of_verdicts({result.status for result in graded})


@verb(
    "explain",
    Option("student", metavar="STUDENT", help="id, full name, or the name of the entry in the download"),
    Option("exercise", metavar="EX", nargs="?", help="default: all that the student handed in"),
    OUT,
)
def explain_marks(options: argparse.Namespace) -> int:
    """Explain marks: grade the kept sources again with their seeds, and print every call of every check."""
    exercise = catalog.find(options.exercise) if options.exercise else None
    from grader.classroom import explain  # heavy: torch

    differs = False
    for number, explanation in enumerate(explain.explain(options.out, options.student, exercise)):
        print("\n" * bool(number) + "\n".join(explain.lines(explanation)), flush=True)
        differs |= explanation.differs
    return errors.FAILED if differs else errors.PASSED


@verb(
    "fill",
    Option("gradebook", metavar="GRADEBOOK.csv", type=Path, help="Canvas' gradebook, Moodle's worksheet, any CSV"),
    Option("marks", metavar="MARKS.csv", nargs="+", type=Path, help="marks.csv of results"),
    Option("--output", metavar="FILE", type=Path, help="default: GRADEBOOK-filled.csv"),
    COLUMN,
)
def fill_gradebook(options: argparse.Namespace) -> int:
    """Write a platform's own CSV file with the points in it. Scores that are there stay where we have none.

    Returns exit code 3 if a student with points has no row.
    """
    from grader.classroom import fill

    marks = fill.read_marks(options.marks)
    filled = fill.fill(options.gradebook, marks, dict(options.column))
    output = options.output or options.gradebook.with_name(f"{options.gradebook.stem}-filled.csv")
    write(output, filled.text, 0o600)
    print(fill.describe(marks))
    print("\n".join(filled.lines))
    for name in filled.missing:
        print(f"  no row: {label(name)}")
    return errors.NOT_DONE if filled.missing else errors.PASSED


@verb("bundle", Option("--output", metavar="FILE", type=Path, default=BUNDLE, help=f"default: {BUNDLE}"))
def make_bundle(options: argparse.Namespace) -> None:
    """Make the zip that learners get: lessons, stubs, hints, and the grader with only the documented checks."""
    write(options.output, bundle.build())


def write(path: Path, data: bytes | str, mode: int = 0o666) -> None:
    """Write a file, with its folder, and print its size. Raises WrongUse where it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        safe_files.write_whole(path, data, mode)
    except (OSError, ValueError) as error:
        name = str(path).encode("utf-8", "backslashreplace").decode()
        raise WrongUse(f"{name} cannot be written: {getattr(error, 'strerror', None) or error}") from None
    print(f"{path}: {path.stat().st_size / 1e3:,.0f} kB")


@verb(
    "gradescope",
    EXERCISES,
    Option("--output", metavar="FILE", type=Path, help="default: gradescope.zip"),
    Option("--hidden", choices=VISIBLE, default="visible", help="who sees the hidden checks' verdicts"),
    NO_SANDBOX,
    Option("--grade", metavar="FOLDER", type=Path, help="grade this folder; --output is the results.json"),
)
def make_gradescope(options: argparse.Namespace) -> int:
    """Make the autograder zip for Gradescope (and, inside it, grade one submission)."""
    exercises = catalog.find_all(options.exercises)
    from grader.integrations import gradescope

    if options.grade is not None:
        results = partial(gradescope.results, hidden=options.hidden)
        ended = gradescope.failure("the autograder ended before it was done.")
        return errors.PASSED if _grade_one(options, exercises, results, ended) else errors.NOT_DONE
    write(options.output or Path("gradescope.zip"), gradescope.package(exercises, options.hidden, options.accept_tier))
    print(f"Set the assignment's points to {sum(exercise.max_points for exercise in exercises):g} on Gradescope.")
    return errors.PASSED


@verb(
    "classroom50",
    EXERCISES,
    Option("--output", metavar="DIR", type=Path, default=Path("classroom50"), help="default: classroom50"),
    Option("--hidden", action="store_true", help="with solutions and hidden checks, for all to read"),
    Option("--grade", metavar="FOLDER", type=Path, help="grade this folder; --output is the result.json"),
)
def make_classroom50(options: argparse.Namespace) -> int:
    """Make the autograder for CS50's Classroom 50 (and, inside it, grade one checkout)."""
    exercises = catalog.find_all(options.exercises)
    from grader.integrations import classroom50, one_student

    if options.grade is not None:
        now = datetime.datetime.now(datetime.timezone.utc)
        result = partial(classroom50.result, environment=os.environ, now=now)
        graded = _grade_one(options, exercises, result, result(one_student.nothing(exercises)))
        if graded is not None:
            points = sum(result.points for _, result in graded.results if result)
            print(f"{points:g} of {sum(exercise.max_points for exercise in exercises):g} points")
        return errors.NOT_DONE if graded is None else errors.PASSED
    for name, content in classroom50.files(exercises, options.hidden).items():
        write(options.output / name, content)
    print("Put these files into <classroom>/autograders/<assignment>/ of your classroom50 repository.")
    return errors.PASSED


def _grade_one(
    options: argparse.Namespace,
    exercises: tuple[catalog.Exercise, ...],
    content: Callable[[Graded], dict[str, Any]],
    ended: dict[str, Any],
) -> Graded | None:
    """Grade one hand-in for a platform. --output is written before the first exercise, and again after each.

    content: what it holds; ended: while nothing is graded, and where the grader cannot do its work. Returns None where
    something that was handed in has no verdict, or the output cannot be written: then no score counts.
    """
    from grader.integrations import one_student
    from grader.reports import deliver

    def write_out(found: dict[str, Any]) -> bool:
        """Write the output. Returns whether it could be written."""
        return deliver(json.dumps(found, indent=1) + "\n", options.output)

    write_out(ended)
    accept_tier = getattr(options, "accept_tier", None)
    try:
        graded = one_student.grade(options.grade, exercises, accept_tier, lambda graded: write_out(content(graded)))
        return graded if write_out(content(graded)) and graded.complete else None
    except Exception as error:
        print(f"The grader could not do its work: {error}", file=sys.stderr)  # for the instructor
        write_out(ended)
        return None


@verb(
    "nbgrader",
    Option("course", nargs="?", type=Path, default=COURSE, help=f"the folder; default: {COURSE}"),
    Option("--ex", metavar="EX,…", default="all", help="these exercises: 03,07; default: all"),
    Option("--exchange", type=Path, help="the folder that students and instructors share"),
)
def make_course(options: argparse.Namespace) -> None:
    """Make a course for nbgrader: source notebooks with solutions and checks, and the settings that grade them."""
    from grader.integrations.nbgrader import course

    chosen = catalog.find_all(options.ex)
    for line in course.make(options.course, chosen, options.exchange):
        print(line)
    print(f"\nThe course is in {paths.shown(options.course)}. There: nbgrader generate_assignment {chosen[0].folder}")
