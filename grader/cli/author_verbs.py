"""Verbs for authors: proofs, stubs, new exercises, tables of mistakes and numbers."""

from __future__ import annotations

import argparse
import json
import keyword
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader import catalog
from grader.catalog import errors, paths, stubs
from grader.catalog.errors import WrongUse
from grader.cli.options import (
    EXERCISE,
    TABLE_FORMAT,
    cores,
    jobs,
    option,
    verb,
)
from grader.records import containment
from grader.sandbox.forkserver import DEVICES, demand_device, pick_device

if TYPE_CHECKING:
    from grader.authoring.parts import Problem
    from grader.authoring.verify import Report

MAX_CHANGED = 5  # mistakes that are named where failed_checks.json is not current
SLUG = re.compile(r"[a-z][a-z0-9_]*")
COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@verb(
    "verify",
    option("exercise", nargs="?", metavar="EX", help="one exercise; default: all"),
    option("--seed", type=int, default=1),
    option("--write", action="store_true", help="write down which checks each mistake fails"),
    option(
        "--thorough",
        action="store_true",
        help="measure the memory of each mistake again, also where little is recorded",
    ),
    option("--every", type=int, default=1, metavar="N", help="run one of N mistakes, and one for each check"),
    option(
        "--device",
        choices=DEVICES,
        help="run all on this device, and write a Markdown report with a table of time and memory that can be sent in",
    ),
    option("--output", type=Path, metavar="FILE", help="of that report; default: verify-<device>.md"),
    option("--jobs", type=jobs, metavar="N", help="processes; default: one a core, on a GPU one"),
)
def verify(options: argparse.Namespace) -> int:
    """Prove that the grader judges rightly: stubs, solutions, known mistakes, documented numbers."""
    from rich.console import Console

    from grader.authoring import parallel

    containment.policy.strict = True  # an error of the grader must not go unnoticed
    chosen = [catalog.find(options.exercise)] if options.exercise else list(catalog.exercises())
    device = pick_device(options.device or "cpu")
    demand_device(device)
    processes = options.jobs or (cores() if device == "cpu" else 1)
    thorough = options.thorough or options.write or device != "cpu"
    every = 1 if options.write else max(options.every, 1)
    problems: list[Problem] = []
    reports: list[Report] = []
    with Console(stderr=True).status(f"0 of {len(chosen)} exercises") as status:
        verified = parallel.verify_all(chosen, options.seed, processes, device, thorough, every)
        for number, report in enumerate(verified, 1):
            status.update(f"{number} of {len(chosen)} exercises")
            if device == "cpu" and report.is_complete:  # where the table of mistakes is made
                stale = _not_current(report)
                if stale and options.write:
                    _write_failed_checks(report)
                    status.update(f"{report.exercise.folder} once more")  # a diagnosis reads what was written
                    (report,) = parallel.verify_all([report.exercise], options.seed, 1, device, thorough)
                else:
                    report.problems += stale
            problems += report.problems
            reports.append(report)
        if options.device:
            status.update("time and memory")
            _write_report(device, reports, options.output or Path(f"verify-{device}.md"))
    for report in reports:
        if report.not_here:
            print(f"{report.exercise.folder}: {report.not_here}")
        for line in report.waits:
            print(line)
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return errors.FAILED
    mistakes = sum(len(report.not_passed) for report in reports)
    count = sum(not report.not_here for report in reports)
    exercises = f"{count} exercise" + "s" * (count != 1)
    print(f"{exercises}, {mistakes} mistakes: every one rejected and named by its own sentence")
    return errors.PASSED


def _not_current(report: Report) -> list[Problem]:
    """The problem of a failed_checks.json that is not current."""
    from grader.authoring.parts import Problem, again

    changed = report.out_of_date()
    if not changed:
        return []
    folder, more = report.exercise.folder, len(changed) - MAX_CHANGED
    shown = changed[:MAX_CHANGED] + [f"and {more} more"] * (more > 0)
    fix = f"Make it again: {again(folder)} WRITE=1"
    return [Problem(f"it is not current: {'; '.join(shown)}", paths.failed_checks(folder), fix)]


def _write_failed_checks(report: Report) -> None:
    """Write down which checks each mistake fails."""
    from grader.catalog import mistakes

    text = mistakes.as_json([*report.exercise.points], report.not_passed)
    paths.failed_checks(report.exercise.folder).write_text(text, "utf-8")


def _write_report(device: str, reports: list[Report], path: Path) -> None:
    """Write what was found on this device as a page."""
    from grader.authoring import device_report

    verified = []
    for report in reports:
        right = 1 + len(paths.styles(report.exercise.folder))
        row = (report.exercise.folder, right, len(report.not_passed), tuple(report.problems))
        verified.append(device_report.Verified(*row))
    rows = {
        report.exercise.folder: device_report.rows(report.exercise, device)
        for report in reports
        if report.exercise.timed
    }
    page = device_report.markdown(device, device_report.machine(device), verified, rows)
    path.write_text(page, "utf-8")
    print(f"the report: {path}")


@verb(
    "new",
    option("exercise", metavar="EX", help="its number, from 1 to 99"),
    option("name", metavar="NAME", help="its slug: lower case, digits and underscores"),
)
def make_exercise(options: argparse.Namespace) -> int:
    """Write the files of a new exercise, with TODOs that verify refuses until they are filled."""
    if not paths.SOLUTIONS.is_dir():
        raise WrongUse("This copy holds no solutions, so no exercise is made in it. Use the project's own repository.")
    from grader.authoring import scaffold  # not in a learner's bundle

    number, slug = options.exercise, options.name
    if not number.isdigit() or not 1 <= int(number) <= 99:
        raise WrongUse(f"{number} is no exercise number: make new EX=22 NAME=my_exercise")
    if not SLUG.fullmatch(slug):
        raise WrongUse(f"{slug!r} is no slug: lower case letters, digits and underscores, as in my_exercise")
    if keyword.iskeyword(slug):
        raise WrongUse(f"{slug} is a word of Python's own, so no function can be called that: choose another name")
    existing = [e.folder for e in catalog.exercises() if e.number == int(number) or e.slug == slug]
    if existing:
        raise WrongUse(f"{existing[0]} is there already: choose another number and name")
    folder = f"{int(number):02}_{slug}"
    for path, text in scaffold.files(folder).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        print(f"wrote {paths.shown(path)}")
    if not any(folder[:2] in path.numbers for path in catalog.learning_paths()):
        print(f"Add {folder[:2]} to a path in {paths.shown(paths.LEARNING_PATHS)}.")
    print(f"Fill the TODOs (docs/authors.md). What is left to do: make verify EX={folder[:2]}")
    return errors.PASSED


@verb(
    "stub",
    EXERCISE,
    option("--force", action="store_true", help="also over a file that a learner has begun to fill in"),
)
def make_stub(options: argparse.Namespace) -> int:
    """Make an exercise's stub from its solution, for authors."""
    exercise = catalog.find(options.exercise)
    path = paths.stub(exercise.folder)
    if path.exists() and not options.force and not _is_stub(path.read_text("utf-8")):
        raise WrongUse(f"{paths.shown(path)} has been filled in. To lose that: make stub EX={options.exercise} FORCE=1")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(stubs.make(paths.solution(exercise.folder).read_text("utf-8")), "utf-8")
    print(f"wrote {paths.shown(path)}")
    return errors.PASSED


def _is_stub(text: str) -> bool:
    return stubs.make(text) == text


@verb("mistakes", EXERCISE, option("name", nargs="?", metavar="NAME", help="one mistake; default: all"), TABLE_FORMAT)
def show_mistakes(options: argparse.Namespace) -> int:
    """Show the known mistakes of an exercise: what a learner reads, what each changes, which checks it fails."""
    from grader.catalog import mistakes

    folder = catalog.find(options.exercise).folder
    chosen = [mistake for mistake in mistakes.mistakes(folder) if options.name in (None, mistake.name)]
    if not chosen:
        name = options.name or "mistakes"
        raise WrongUse(f"{folder} has no {name} here. See all: make mistakes EX={folder[:2]}")
    shows = mistakes.misconceptions_of_mistakes(folder)
    not_passed = mistakes.failed_checks(folder)
    rows = [
        {
            "name": mistake.name,
            "sentence": mistake.sentence,
            "misconception": asdict(shows[mistake.name]) if mistake.name in shows else None,
            "changes": mistake.changes,
            "failed_checks": list(not_passed[mistake.name].failed) if mistake.name in not_passed else [],
        }
        for mistake in chosen
    ]
    if options.format == "json":
        print(json.dumps({"schema": 1, "exercise": folder, "mistakes": rows}, indent=2, ensure_ascii=False))
    elif options.format == "md":
        print(f"# Mistakes of {folder}\n\n" + "\n".join(map(_markdown, rows)), end="")
    else:
        _print_mistakes(rows)
    return errors.PASSED


def _print_mistakes(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for row in rows:
        console.print(Text(row["name"], "bold"))
        console.print(Text(row["sentence"]))
        for line in row["changes"]:
            console.print(Text(f"    {line}", COLOURS.get(line[:1], "")))
        console.print(Text(f"shows: {_shown(row)}", "dim"))
        console.print(Text(f"fails: {_failed(row)}\n", "dim"))
    console.print(f"{len(rows)} mistake{'s' * (len(rows) != 1)}")


def _markdown(row: dict[str, Any]) -> str:
    changes = "\n".join(row["changes"])
    facts = f"Shows: {_shown(row)}\n\nFails: {_failed(row)}\n"
    return f"## `{row['name']}`\n\n{row['sentence']}\n\n```diff\n{changes}\n```\n\n{facts}"


def _shown(row: dict[str, Any]) -> str:
    """The misconception, and what to show again."""
    misconception = row["misconception"]
    return (
        f"{misconception['title']} (lesson {misconception['lesson']}, “{misconception['section']}”)"
        if misconception
        else "no misconception yet"
    )


def _failed(row: dict[str, Any]) -> str:
    return ", ".join(row["failed_checks"]) or "not known yet (make verify WRITE=1)"


@verb("documented", TABLE_FORMAT)
def show_documented(options: argparse.Namespace) -> int:
    """List the numbers that the source documents print, and the check that grades each."""
    from grader.catalog import documented

    numbers = documented.all_numbers()
    if options.format == "json":
        print(json.dumps([asdict(number) for number in numbers], indent=2, ensure_ascii=False))
    elif options.format == "md":
        print(documented.table(numbers), end="")
    else:
        for number in numbers:
            printed = " ".join(number.printed.split())
            short = printed if len(printed) <= 60 else printed[:59] + "…"
            print(f"{number.exercise}  {number.id}\n    {number.source}, {number.place}")
            print(f"    graded by {number.check}: {short}")
        print(f"{len(numbers)} documented numbers")
    return errors.PASSED


@verb("notebooks", option("--output", metavar="DIR", type=Path, default=Path("notebooks"), help="default: notebooks"))
def make_notebooks(options: argparse.Namespace) -> int:
    """Make a notebook of every exercise, for a place such as Colab that opens notebooks from an address."""
    from grader.integrations.notebook import export

    try:
        options.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WrongUse(f"{options.output} cannot be made: {error.strerror}") from None
    outcomes = [export.make(exercise, options.output)[1] for exercise in catalog.exercises()]
    kept = outcomes.count(export.KEPT)
    left = f"; {kept} in which somebody has worked are as they were" if kept else ""
    print(f"{options.output} holds {len(outcomes)} notebooks{left}.")
    return errors.PASSED
