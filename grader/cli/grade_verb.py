"""The verb `grade`: a folder of a class, or a few files of one exercise."""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from grader import catalog
from grader.catalog import errors, paths
from grader.catalog.errors import NoSuchFile, WrongUse
from grader.cli.options import LEVELS, NO_SANDBOX, cores, jobs, moment, option, seconds, verb
from grader.records import submission
from grader.records.results import ExerciseResult, Settings
from grader.records.sanitize import label
from grader.records.submission import Submission
from grader.sandbox.forkserver import DEVICES, ForkServer, demand_device, pick_device

if TYPE_CHECKING:
    from grader.classroom.office import Office
    from grader.classroom.run import Plan
    from grader.classroom.show import Show

TIERS = ("A", "B", "D")
FORMS = ("plain", "canvas", "moodle")
A_FEW, A_CLASS = "a few files", "a class"


@verb(
    "grade",
    option("what", metavar="DIR | EX", nargs="?", help="a folder of submissions, or an exercise"),
    option("files", metavar="FILE", nargs="*", type=Path, help=".py files or .ipynb notebooks of EX"),
    option("--device", choices=DEVICES, help="default: cpu"),
    option("--seed", type=int, help="of the fresh inputs, the same for all; default: a new secret of the run"),
    option("--timeout", type=seconds, metavar="S", help="seconds for one call"),
    option("--tier", choices=TIERS, help="this sandbox and no other; default: the strongest there is"),
    NO_SANDBOX,
    option(
        "--files", metavar="FILE", nargs="+", type=Path, dest="named", help="the same as FILE, of --ex", group=A_FEW
    ),
    option("--format", choices=("text", "json"), default="text", group=A_FEW),
    option("--output", metavar="FILE", type=Path, help="write the report there", group=A_FEW),
    option("--submissions", metavar="DIR", type=Path, help="the same as DIR", group=A_CLASS),
    option("--out", metavar="DIR", type=Path, default=Path("results"), help="default: results", group=A_CLASS),
    option("--ex", metavar="03,07", default="all", help="these exercises; default: all", group=A_CLASS),
    option(
        "--since",
        metavar="DATE",
        type=moment,
        help="class.html shows apart what came since then, 2026-11-16; default: what is new",
        group=A_CLASS,
    ),
    option("--jobs", metavar="N", type=jobs, help="processes; default: one a core", group=A_CLASS),
    option("--dask", metavar="ADDRESS", help="grade on a Dask cluster: its scheduler's address or file", group=A_CLASS),
    option("--csv", choices=FORMS, default="plain", help="the columns of grades.csv", group=A_CLASS),
    option(
        "--feedback", choices=LEVELS, help="how much feedback.html tells; default: as course.toml says", group=A_CLASS
    ),
    option(
        "--roster", metavar="FILE", type=Path, help="who is in the class: a platform's CSV, or a folder", group=A_CLASS
    ),
    option("--rules", metavar="FILE", type=Path, help="default: course.toml, where there is one", group=A_CLASS),
    option(
        "--drop", action="store_true", help="students and hand-ins that are not there any more may go", group=A_CLASS
    ),
    option("--anonymous", action="store_true", help="class.html with pseudonyms", group=A_CLASS),
    option("--log", metavar="FILE", type=Path, help="append every event as a line of JSON", group=A_CLASS),
    usage="%(prog)s DIR [--out results] …  |  %(prog)s EX FILE …",
)
def grade(options: argparse.Namespace) -> int:
    """Grade others' files behind a sandbox that has been tried out: a folder of a whole class, or a few files."""
    if options.named and options.ex != "all" and not options.what:
        options.what, options.files = options.ex, options.named
    if options.submissions is None and options.what and not options.files and Path(options.what).exists():
        options.submissions, options.what = Path(options.what), None
    if options.submissions is not None:
        if options.what or options.files:
            raise WrongUse(
                "Name a folder of submissions, or an exercise and its files, not both.\nSee: kata grade --help"
            )
        return run_class(options)
    if not options.what or not options.files:
        if options.what and not _is_exercise(options.what):  # it was meant as a path
            from grader.classroom.intake.finder import no_folder

            raise WrongUse(no_folder(Path(options.what)))
        raise WrongUse(
            "Grade a folder of submissions: make grade SUBMISSIONS=folder\n"
            'Or the files of one exercise: make grade EX=03 FILES="a.py b.py"\nSee: kata grade --help'
        )
    return run_files(options)


def _is_exercise(name: str) -> bool:
    try:
        catalog.find(name)
    except catalog.NoSuchExercise:
        return False
    return True


def run_class(options: argparse.Namespace) -> int:
    """Grade a folder of submissions.

    Returns exit code 3 where something could not be graded or written, or a person must say whose it is.
    """
    from grader.classroom import run as classroom
    from grader.classroom.outputs import Unwritten

    plan = make_plan(options, options.submissions, options.out)
    office = office_of(options)
    since = options.since
    plan = replace(
        plan,
        office=office,
        since=since if since is None or since.tzinfo else since.replace(tzinfo=office.course.zone),
        drop=options.drop,
        anonymous=options.anonymous or office.course.anonymous,
        level=options.feedback or office.course.feedback or "full",
    )
    with shown(options) as show:
        try:
            undone = classroom.run(plan, show)
        except Unwritten as error:
            show.say(str(error))
            return errors.NOT_DONE
        except KeyboardInterrupt:
            raise KeyboardInterrupt("stopped. What is graded is kept: type the same command, and it goes on") from None
    return errors.NOT_DONE if undone else errors.PASSED


def office_of(options: argparse.Namespace, beside: Path = Path()) -> Office:
    """The roster and the rules of the course. beside: the folder of course.toml, if no other file is named."""
    from grader.classroom import course_rules, office

    usual = beside / course_rules.NAME
    return office.read(options.rules or (usual if usual.exists() else None), options.roster)


def office_of_results(options: argparse.Namespace, is_strict: bool = True) -> Office:
    """The same for a look at results: without an option, the rules and the roster of the run that made them."""
    from grader.classroom import office

    return office.read(*sources_of(options, is_strict))


def sources_of(options: argparse.Namespace, is_strict: bool = True) -> tuple[Path | None, Path | None]:
    """The files of the rules and of the roster for a look at results."""
    from grader.classroom import course_rules, office

    usual = Path(course_rules.NAME)
    rules = options.rules or (usual if usual.exists() else None)
    return office.sources_of(options.out, rules, options.roster, is_strict)


def make_plan(options: argparse.Namespace, submissions: Path, out: Path) -> Plan:
    """The run that the options ask for."""
    from grader.classroom.run import Plan

    return Plan(
        submissions=submissions,
        out=out,
        exercises=choose(options.ex),
        named=options.ex.strip().lower() != "all",
        device=pick_device(options.device or "cpu"),
        seed=options.seed,
        timeout=options.timeout,
        jobs=options.jobs or cores(),
        tier=options.tier,
        accept_tier=options.accept_tier,
        dask=options.dask,
        form=options.csv,
        level=options.feedback or "full",
    )


@contextlib.contextmanager
def shown(options: argparse.Namespace) -> Iterator[Show]:
    """The progress of a run on stderr and in its log."""
    from grader.classroom.show import Show

    show = Show(options.log)
    try:
        yield show
    finally:
        show.close()


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
    first = next((check for check in result.checks if check.outcome == "failed"), None)
    cause = result.message or (first.diagnosis or first.message if first else "")
    points = f"{result.points:g}/{result.max_points:g}"
    return f"{points:>9}  {result.status:<6}  {label(result.submission)}  {cause.partition(chr(10))[0]}".rstrip()
