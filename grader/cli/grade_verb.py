"""The verb `grade`: what a class handed in, or a few files of one exercise."""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from grader import catalog
from grader.catalog import errors, paths
from grader.catalog.errors import NoSuchFile, WrongUse
from grader.cli.options import COLUMN, LEVELS, NO_SANDBOX, cores, jobs, option, seconds, verb
from grader.records import submission
from grader.records.results import ExerciseResult, Settings
from grader.records.sanitize import label
from grader.records.submission import Submission
from grader.sandbox.forkserver import DEVICES, ForkServer, demand_device, pick_device

if TYPE_CHECKING:
    from grader.classroom.marks import Found

TIERS = ("A", "B", "D")
RESULTS = Path("results")
A_FEW, A_CLASS = "a few files", "a class"


@verb(
    "grade",
    option(
        "what", metavar="DOWNLOAD | EX", nargs="?", help="what a class handed in (folder, zip, tar), or an exercise"
    ),
    option("files", metavar="EX | FILE", nargs="*", help="exercises of DOWNLOAD, or .py files and notebooks of EX"),
    option("--device", choices=DEVICES, help="default: cpu"),
    option("--seed", type=int, help="of the fresh inputs, the same for all; default: a new secret of the run"),
    option("--timeout", type=seconds, metavar="S", help="seconds for one call"),
    option("--tier", choices=TIERS, help="this sandbox and no other; default: the strongest there is"),
    NO_SANDBOX,
    option("--files", metavar="FILE", nargs="+", dest="named", help="the same as FILE, of --ex", group=A_FEW),
    option("--format", choices=("text", "json"), default="text", group=A_FEW),
    option("--output", metavar="FILE", type=Path, help="write the report there", group=A_FEW),
    option("--submissions", metavar="DOWNLOAD", type=Path, help="the same as DOWNLOAD", group=A_CLASS),
    option("--ex", metavar="03,07", default="all", help="these exercises; default: all", group=A_CLASS),
    option("--students", metavar="LIST.csv", type=Path, help="who is in the class: any CSV with ids", group=A_CLASS),
    option("--names", metavar="FILE", type=Path, help="whose what is: found,student,exercise", group=A_CLASS),
    COLUMN,
    option("--out", metavar="DIR", type=Path, default=RESULTS, help="default: results", group=A_CLASS),
    option("--assignment", metavar="NAME", help="of DOWNLOAD, a course of nbgrader", group=A_CLASS),
    option("--jobs", metavar="N", type=jobs, help="processes; default: one a core", group=A_CLASS),
    option("--dask", metavar="ADDRESS", help="grade on a Dask cluster: its scheduler's address or file", group=A_CLASS),
    option("--feedback", choices=LEVELS, default="full", help="how much students read; default: full", group=A_CLASS),
    usage="%(prog)s DOWNLOAD [EX …] [--students LIST.csv] …  |  %(prog)s EX FILE …",
)
def grade(options: argparse.Namespace) -> int:
    """Grade others' files in a sandbox: what a whole class handed in, or a few files."""
    if options.named and options.ex != "all" and not options.what:
        options.what, options.files = options.ex, options.named
    if options.submissions is None and options.what and _is_download(options):
        options.submissions, options.what = Path(options.what), None
        if options.files:
            options.ex, options.files = ",".join(options.files), []
    if options.submissions is not None:
        if options.what or options.files:
            raise WrongUse("Name a download, or an exercise and its files, not both.\nSee: kata grade --help")
        return run_class(options)
    if not options.what or not options.files:
        if options.what and not _is_exercise(options.what):  # it was meant as a path
            from grader.classroom.intake.finder import no_folder

            raise WrongUse(no_folder(Path(options.what)))
        raise WrongUse(
            "Grade what a class handed in: make grade SUBMISSIONS=download\n"
            'Or the files of one exercise: make grade EX=03 FILES="a.py b.py"\nSee: kata grade --help'
        )
    options.files = [Path(file) for file in options.files]
    return run_files(options)


def _is_download(options: argparse.Namespace) -> bool:
    """True if the words are a download, and perhaps exercises of it: `03 FILE` is a file, even beside a folder 03."""
    return Path(options.what).exists() and (not options.files or all(map(_is_exercise, options.files)))


def _is_exercise(name: str) -> bool:
    try:
        catalog.find(name)
    except catalog.NoSuchExercise:
        return False
    return True


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
        exercises=choose(options.ex),
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


def choose(text: str) -> tuple[catalog.Exercise, ...]:
    """The exercises of "03,07", or of "all". Raises WrongUse where the words name none."""
    if text.strip().lower() == "all":
        return catalog.for_class()
    exercises = [catalog.find(name) for name in text.replace(" ", ",").split(",") if name]
    by_folder = {exercise.folder: exercise for exercise in exercises}
    if not by_folder:
        raise WrongUse("EX names no exercise. Write EX=03,07 or EX=all")
    return tuple(by_folder[folder] for folder in sorted(by_folder))


def run_files(options: argparse.Namespace) -> int:
    """Grade a few files. Returns exit code 1 where one did not pass, 3 where one could not be graded."""
    exercise = catalog.find(options.what)
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

        def read(path: Path) -> Submission:
            """The submission in a file, under the name that was typed."""
            return replace(submission.read(path, is_own=False), filename=str(path))

        gc.freeze()
        gc.enable()  # the answers of one file must be freed while the next is graded
        handed_in = (submission.attempt(partial(read, path), paths.shown(path)) for path in options.files)
        results = grading.results(exercise, handed_in, fork_server, settings)
        graded = [replace(result, sandbox=sandbox) for result in results]
    return errors.of_verdicts(graded) if _write_report(graded, options) else errors.NOT_DONE


def _write_report(graded: list[ExerciseResult], options: argparse.Namespace) -> bool:
    """Write the report in the requested format. Returns whether it is where it was requested."""
    from grader.reports import deliver
    from grader.reports import json as as_json

    if options.format == "json":
        report = {"schema": as_json.SCHEMA, "results": [as_json.record(result) for result in graded]}
        text = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
    else:
        text = "".join(f"{_line(result)}\n" for result in graded)
    return deliver(text, options.output)


def _line(result: ExerciseResult) -> str:
    """One result in one line: points, status, file, and the first cause of a failure."""
    from grader.records.causes import causes

    sentences = [result.message] if result.message else [cause.sentences[0] for cause in causes(result)]
    first = next(iter(sentences), "").partition("\n")[0]
    status = result.status.replace("_", " ")
    return (
        f"{result.points:g}/{result.max_points:g}".rjust(9)
        + f"  {status:<6}  {label(result.submission)}  {first}".rstrip()
    )
