"""Verbs for who writes exercises: proofs, new exercises, the lessons as a site."""

from __future__ import annotations

import argparse
import keyword
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from grader import catalog
from grader.catalog import errors, mistakes, paths, stubs
from grader.catalog.errors import WrongUse
from grader.cli.options import Option, cores, jobs, number, verb
from grader.records import containment
from grader.sandbox.forkserver import DEVICES, demand_device, pick_device

if TYPE_CHECKING:
    from grader.authoring.verify import Report

SLUG = re.compile(r"[a-z][a-z0-9_]*")


@verb(
    "verify",
    Option("exercise", nargs="?", metavar="EX", help="one exercise; default: all"),
    Option("--seed", type=int, default=1),
    Option("--write", action="store_true", help="write the stub, and down which checks each mistake fails"),
    Option("--thorough", action="store_true", help="measure the memory of each mistake again"),
    Option("--every", type=int, default=1, metavar="N", help="run one of N mistakes, and one for each check"),
    Option("--device", choices=DEVICES, default="cpu", help="run all on this device; default: cpu"),
    Option("--jobs", type=jobs, metavar="N", help="processes; default: one a core, on a GPU one"),
)
def verify(options: argparse.Namespace) -> int:
    """Prove that the grader judges rightly."""
    from rich.console import Console

    from grader.authoring import parallel
    from grader.authoring.parts import Problem

    containment.strict = True  # an error of the grader must not go unnoticed
    chosen = [catalog.find(options.exercise)] if options.exercise else list(catalog.exercises())
    if options.write:
        for exercise in chosen:
            write_stub(exercise.folder)
    device = pick_device(options.device)
    demand_device(device)
    processes = options.jobs or (cores() if device == "cpu" else 1)
    thorough = options.thorough or options.write or device != "cpu"
    every = 1 if options.write else max(options.every, 1)
    reports: list[Report] = []
    with Console(stderr=True).status(f"0 of {len(chosen)} exercises") as status:
        verified = parallel.verify_all(chosen, options.seed, processes, device, thorough, every)
        for number, report in enumerate(verified, 1):
            status.update(f"{number} of {len(chosen)} exercises")
            table = paths.failed_checks(report.exercise.folder)
            # The table of mistakes is made on the CPU.
            changed = report.out_of_date() if device == "cpu" else []
            if changed and options.write:
                text = mistakes.as_json([*report.exercise.points], report.not_passed)
                table.write_text(text, "utf-8")
                status.update(f"{report.exercise.folder} once more")  # a diagnosis reads what was written
                (report,) = parallel.verify_all([report.exercise], options.seed, 1, device, thorough)
            elif changed:
                fix = f"Make it again: make verify EX={report.exercise.folder[:2]} WRITE=1"
                report.problems.append(Problem(f"it is not current: {'; '.join(changed)}", table, fix))
            reports.append(report)
    for report in reports:
        print("".join(f"{line}\n" for line in report.waits), end="")
        if report.not_here:
            print(f"{report.exercise.folder}: {report.not_here}")
        command = f"make verify EX={report.exercise.folder[:2]}"
        for problem in report.problems:
            print(f"{problem}{'' if command in problem.fix else f', then: {command}'}", file=sys.stderr)
    if any(report.problems for report in reports):
        return errors.FAILED
    total, count = sum(len(report.not_passed) for report in reports), sum(not report.not_here for report in reports)
    exercises = f"{count} {'exercise' if count == 1 else 'exercises'}"
    print(f"{exercises}, {total} mistakes: every one rejected and named by its own sentence")
    return errors.PASSED


def write_stub(folder: str) -> None:
    """Make the stub from the solution. A file that somebody has begun to fill in stays."""
    path = paths.stub(folder)
    text = path.read_text("utf-8") if path.exists() else ""
    if stubs.make(text) == text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(stubs.make(paths.solution(folder).read_text("utf-8")), "utf-8")


@verb(
    "new",
    Option("exercise", metavar="EX", type=number(int, 1, 99, "from 1 to 99"), help="its number, from 1 to 99"),
    Option("name", metavar="NAME", help="its slug: lower case, digits and underscores"),
)
def make_exercise(options: argparse.Namespace) -> None:
    """Write the files of a new exercise, whose TODOs verify names."""
    if not paths.SOLUTIONS.is_dir():
        raise WrongUse("This copy holds no solutions, so no exercise is made in it. Use the project's own repository.")
    from grader.authoring import scaffold  # not in a learner's bundle

    slug = options.name
    if not SLUG.fullmatch(slug) or keyword.iskeyword(slug):
        raise WrongUse(f"{slug!r} is no slug: lower case letters, digits and underscores, and no word of Python's own")
    existing = [e.folder for e in catalog.exercises() if e.number == options.exercise or e.slug == slug]
    if existing:
        raise WrongUse(f"{existing[0]} is there already: choose another number and name")
    folder = f"{options.exercise:02}_{slug}"
    for path, text in scaffold.files(folder).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        print(f"wrote {paths.shown(path)}")
    if not any(folder[:2] in path.numbers for path in catalog.learning_paths()):
        print(f"Add {folder[:2]} to a path in {paths.shown(paths.LEARNING_PATHS)}.")
    print(f"Fill the TODOs (docs/authors.md). What is left to do: make verify EX={folder[:2]}")


@verb("docs", Option("--output", metavar="FOLDER", type=Path, default=paths.SITE, help="default: site"))
def docs(options: argparse.Namespace) -> None:
    """Build the lessons as a site of static pages."""
    from grader.integrations.site.build import build

    count = build(options.output)
    folder = paths.shown(options.output)
    print(f"{folder} holds {count} pages. To read them with their search: python3 -m http.server --directory {folder}")
