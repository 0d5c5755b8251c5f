"""Grade others' files behind a sandbox that has been tried out: a folder of a whole class, or a few files."""

import argparse
import contextlib
import gc
import json
import os
from dataclasses import replace
from pathlib import Path

from grader import catalog
from grader.catalog import errors, paths
from grader.catalog.errors import WrongUse
from grader.cli import processes
from grader.cli.cmd_check import seconds
from grader.records import submission
from grader.records.sanitize import label
from grader.sandbox.devices import DEVICES, demand_device, pick_device
from grader.sandbox.forkserver import ForkServer

TIERS = ("A", "B", "C", "D")
FORMS = ("plain", "canvas", "moodle")
LEVELS = ("full", "hints", "names", "none")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "%(prog)s DIR [--out results] …  |  %(prog)s EX FILE …  |  %(prog)s --nbgrader COURSE …"
    parser.set_defaults(help_command=f"{parser.prog} --help")
    parser.add_argument("what", metavar="DIR | EX", nargs="?", help="a folder of submissions, or an exercise")
    parser.add_argument("files", metavar="FILE", nargs="*", type=Path, help=".py files or .ipynb notebooks of EX")
    parser.add_argument("--device", choices=DEVICES, help="default: cpu")
    parser.add_argument(
        "--seed", type=int, help="of the fresh inputs, the same for all; default: a new secret of the run"
    )
    parser.add_argument("--timeout", type=seconds, metavar="S", help="seconds for one call")
    parser.add_argument("--tier", choices=TIERS, help="this sandbox and no other; default: the strongest there is")
    parser.add_argument("--accept-tier", choices=("D",), help="grade although there is no sandbox: your own risk")
    few = parser.add_argument_group("a few files")
    few.add_argument("--files", metavar="FILE", nargs="+", type=Path, dest="named", help="the same as FILE, of --ex")
    few.add_argument("--format", choices=("text", "json"), default="text")
    few.add_argument("--output", metavar="FILE", type=Path, help="write the report there")
    many = parser.add_argument_group("a class")
    many.add_argument("--submissions", metavar="DIR", type=Path, help="the same as DIR")
    many.add_argument("--out", metavar="DIR", type=Path, default=Path("results"), help="default: results")
    many.add_argument("--ex", metavar="03,07", default="all", help="these exercises; default: all")
    many.add_argument("--jobs", metavar="N", type=processes.number, help="processes; default: one a core")
    many.add_argument("--dask", metavar="ADDRESS", help="grade on a Dask cluster: its scheduler's address or file")
    many.add_argument("--csv", choices=FORMS, default="plain", help="the columns of grades.csv")
    many.add_argument("--feedback", choices=LEVELS, default="full", help="how much feedback.html tells")
    many.add_argument("--log", metavar="FILE", type=Path, help="append every event as a line of JSON")
    many.add_argument("--nbgrader", metavar="COURSE", type=Path, help="a course of nbgrader, recorded in its gradebook")
    many.add_argument("--assignment", metavar="NAME", help="of that course")
    many.add_argument("--force", action="store_true", help="grade what the gradebook has as autograded too")


def run(options: argparse.Namespace) -> int:
    if options.nbgrader is not None:
        return run_nbgrader(options)
    if options.named and options.ex != "all" and not options.what:
        options.what, options.files = options.ex, options.named
    if options.submissions is None and options.what and not options.files and Path(options.what).exists():
        options.submissions, options.what = Path(options.what), None
    if options.submissions is not None:
        if options.what or options.files:
            raise WrongUse("name a folder of submissions, or an exercise and its files, not both")
        return run_class(options)
    if not options.what or not options.files:
        raise WrongUse(f"name a folder of submissions, or an exercise and its files\nSee: {options.help_command}")
    return run_files(options)


def run_class(options: argparse.Namespace) -> int:
    """Grade a folder. Exit code 3 where something could not be graded or written, or a person must say whose it is."""
    from grader.classroom import run as classroom
    from grader.classroom.outputs import Unwritten

    plan = planned(options, options.submissions, options.out)
    with shown(options) as show:
        try:
            undone = classroom.run(plan, show)
        except Unwritten as error:
            show.say(str(error))
            return errors.NOT_DONE
    return errors.NOT_DONE if undone else errors.PASSED


def run_nbgrader(options: argparse.Namespace) -> int:
    """Grade an assignment of a course and record it in nbgrader's gradebook. Exit code 3 as above."""
    if not options.assignment:
        raise WrongUse("name the assignment too: --assignment NN_slug")
    from grader.classroom import run as classroom
    from grader.classroom.run import Event

    try:
        from grader.integrations.nbgrader import gradebook
    except ImportError:
        raise WrongUse("nbgrader is not installed. Type: pip install 'attention-kata[classroom]'") from None
    wishes = gradebook.wishes(options.nbgrader)
    for name in ("device", "seed", "timeout", "tier", "accept_tier"):
        if getattr(options, name) is None:
            setattr(options, name, wishes.get(name))
    plan = planned(options, options.nbgrader, options.nbgrader)
    with shown(options) as show:
        done = gradebook.grade_course(
            options.nbgrader, options.assignment, lambda handins: classroom.graded(plan, handins, show), options.force
        )
        facts = {"course": str(options.nbgrader), "recorded": len(done.graded), "failed": dict(done.failed)}
        show(Event("recorded", facts))
    return errors.NOT_DONE if done.failed else errors.PASSED


def planned(options: argparse.Namespace, submissions: Path, out: Path):
    from grader.classroom.run import Plan

    return Plan(
        submissions=submissions,
        out=out,
        exercises=chosen(options.ex),
        named=options.ex.strip().lower() != "all",
        device=pick_device(options.device or "cpu"),
        seed=options.seed,
        timeout=options.timeout,
        jobs=options.jobs or processes.cores(),
        tier=options.tier,
        accept_tier=options.accept_tier,
        dask=options.dask,
        form=options.csv,
        level=options.feedback,
    )


@contextlib.contextmanager
def shown(options: argparse.Namespace):
    from grader.classroom.show import Show

    show = Show(options.log)
    try:
        yield show
    finally:
        show.close()


def run_files(options: argparse.Namespace) -> int:
    """Grade a few files of one exercise. Exit code 1 where one did not pass, 3 where one could not be graded."""
    exercise = catalog.find(options.what)
    for path in options.files:
        if not os.path.lexists(path):  # told before anybody waits
            raise submission.NoSuchFile(f"There is no file {paths.shown(path)}.")
    device = pick_device(options.device or "cpu")
    with ForkServer(device, options.tier) as fork_server:
        from grader.judge import examiner  # heavy: it imports torch while the fork server does
        from grader.records.seeds import secret_seed

        demand_device(device)
        sandbox = fork_server.demand(options.accept_tier)
        seed = options.seed if options.seed is not None else secret_seed()
        settings = examiner.Settings(device=device, seed=seed, timeout=options.timeout, reveal=False)
        results: dict[Path, object] = {}

        def readable():
            for path in options.files:
                try:
                    yield replace(submission.read(path, own=False), filename=str(path))
                except submission.BadSubmission as error:
                    results[path] = examiner.unreadable(exercise, paths.shown(path), str(error), settings)
                except Exception as error:
                    results[path] = examiner.broken(exercise, paths.shown(path), error, settings)

        def record(handed_in, result) -> None:
            results[Path(handed_in.filename)] = result

        gc.freeze()
        gc.enable()  # of what one file answered nothing may stay while the next is graded
        examiner.grade_all(exercise, readable(), fork_server, settings, record)
        graded = [replace(results[path], sandbox=sandbox) for path in options.files]
    return errors.of_verdicts(graded) if write(graded, options) else errors.NOT_DONE


def chosen(words: str) -> tuple[catalog.Exercise, ...]:
    """The exercises named as "03,07", or "all"."""
    if words.strip().lower() == "all":
        return catalog.exercises()
    found = {catalog.find(word).folder: catalog.find(word) for word in words.replace(" ", ",").split(",") if word}
    if not found:
        raise WrongUse("EX names no exercise. Write EX=03,07 or EX=all")
    return tuple(found[folder] for folder in sorted(found))


def write(graded: list, options: argparse.Namespace) -> bool:
    """Give the results in the form asked for. Whether they stand where they were asked for."""
    from grader.reports import json as as_json
    from grader.reports.delivery import deliver

    if options.format == "json":
        report = {"schema": as_json.SCHEMA, "results": [as_json.record(result) for result in graded]}
        text = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
    else:
        text = "".join(f"{line(result)}\n" for result in graded)
    return deliver(text, options.output)


def line(result) -> str:
    """One file in one line: points, status, the file, and the first cause."""
    first = next((check for check in result.checks if check.outcome == "failed"), None)
    cause = result.message or (first.diagnosis or first.message if first else "")
    points = f"{result.points:g}/{result.max_points:g}"
    return f"{points:>9}  {result.status:<6}  {label(result.submission)}  {cause.partition(chr(10))[0]}".rstrip()
