"""Prove that the grader judges rightly: stubs, solutions, known mistakes, documented numbers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from grader import catalog
from grader.authoring import parallel
from grader.authoring.problem import Problem, again
from grader.catalog import errors, paths
from grader.cli import processes
from grader.records import containment
from grader.sandbox.devices import DEVICES, demand_device, pick_device

if TYPE_CHECKING:
    from grader.authoring.verify import Report


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("exercise", nargs="?", metavar="EX", help="one exercise; default: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write down which checks each mistake fails")
    thorough = "measure the memory of each mistake anew, also of those that are recorded to take little"
    parser.add_argument("--thorough", action="store_true", help=thorough)
    devices = "run all on this device, and write a Markdown report with a table of time and memory that can be sent in"
    parser.add_argument("--device", choices=DEVICES, help=devices)
    parser.add_argument("--output", type=Path, metavar="FILE", help="of that report; default: verify-<device>.md")
    parser.add_argument(
        "--jobs", type=processes.number, metavar="N", help="processes; default: one a core, on a GPU one"
    )


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    from rich.console import Console

    containment.policy.strict = True  # an error of the grader must not go unnoticed
    chosen = [catalog.find(options.exercise)] if options.exercise else list(catalog.exercises())
    device = pick_device(options.device or "cpu")
    demand_device(device)
    jobs = options.jobs or (processes.cores() if device == "cpu" else 1)
    thorough = options.thorough or options.write or device != "cpu"
    problems: list[Problem] = []
    reports: list[Report] = []
    with Console(stderr=True).status(f"0 of {len(chosen)} exercises") as status:
        for number, report in enumerate(parallel.verify_all(chosen, options.seed, jobs, device, thorough), 1):
            status.update(f"{number} of {len(chosen)} exercises")
            if device == "cpu" and report.is_complete:  # where the table of mistakes is made
                stale = not_current(report)
                if stale and options.write:
                    write(report)
                    status.update(f"{report.exercise.folder} once more")  # a diagnosis reads what was written
                    (report,) = parallel.verify_all([report.exercise], options.seed, 1, device, thorough)
                else:
                    report.problems += stale
            problems += report.problems
            reports.append(report)
        if options.device:
            status.update("time and memory")
            write_report(device, reports, options.output or Path(f"verify-{device}.md"))
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return errors.FAILED
    mistakes = sum(len(report.not_passed) for report in reports)
    print(f"{len(chosen)} exercises, {mistakes} mistakes: every one rejected and named by its own sentence")
    return errors.PASSED


def not_current(report: Report) -> list[Problem]:
    """The problem of a failed_checks.json that is not current."""
    from grader.authoring import tables

    if tables.is_current(report.exercise, report.not_passed):
        return []
    folder = report.exercise.folder
    mend = f"Make it anew: {again(folder)} WRITE=1"
    return [Problem("it is not there, or not current", paths.failed_checks(folder), mend)]


def write(report: Report) -> None:
    """Write down which checks each mistake fails."""
    from grader.catalog import mistakes

    text = mistakes.as_json([*report.exercise.points], report.not_passed)
    paths.failed_checks(report.exercise.folder).write_text(text, "utf-8")


def write_report(device: str, reports: list[Report], path: Path) -> None:
    """Write what was found on this device as a page."""
    from grader.authoring import device_report, timing

    verified = []
    for report in reports:
        right = 1 + len(paths.styles(report.exercise.folder))
        row = (report.exercise.folder, right, len(report.not_passed), tuple(report.problems))
        verified.append(device_report.Verified(*row))
    rows = {report.exercise.folder: timing.rows(report.exercise, device) for report in reports if report.exercise.timed}
    page = device_report.markdown(device, device_report.machine(device), verified, rows)
    path.write_text(page, "utf-8")
    print(f"the report: {path}")
