"""Grade others' files of one exercise, behind a sandbox that has been tried out."""

import argparse
import json
import secrets
import sys
from dataclasses import replace
from pathlib import Path

from grader import catalog, errors, paths, submission
from grader.commands.check import DEVICES, demand_device, pick_device, seconds
from grader.errors import WrongUse
from grader.nursery import InfrastructureError, Nursery

TIERS = ("A", "B", "C", "D")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("exercise", metavar="EX", help="a number (3, 03), a slug or a folder name")
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help=".py files or .ipynb notebooks")
    parser.add_argument("--device", choices=DEVICES, default="cpu", help="default: cpu")
    parser.add_argument("--seed", type=int, help="of the fresh inputs, the same for all files; default: a new one")
    parser.add_argument("--timeout", type=seconds, metavar="S", help="seconds for one call")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--output", metavar="FILE", type=Path, help="write the report there")
    parser.add_argument("--tier", choices=TIERS, help="this sandbox and no other; default: the strongest there is")
    parser.add_argument("--accept-tier", choices=("D",), help="grade although there is no sandbox: your own risk")


def run(options: argparse.Namespace) -> int:
    exercise = catalog.find(options.exercise)
    device = pick_device(options.device)
    with Nursery(device, options.tier) as nursery:
        from grader import runner  # heavy: it imports torch while the nursery does

        demand_device(device)
        sandbox = demand_sandbox(nursery, options.accept_tier)
        seed = options.seed if options.seed is not None else secrets.randbelow(1_000_000)
        settings = runner.Settings(device=device, seed=seed, timeout=options.timeout, reveal=False)
        results: dict[Path, object] = {}

        def readable():
            for path in options.files:
                try:
                    yield replace(submission.read(path, own=False), filename=str(path))
                except submission.BadSubmission as error:
                    results[path] = runner.unreadable(exercise, paths.shown(path), str(error), settings)

        def record(handed_in, result) -> None:
            results[Path(handed_in.filename)] = result

        runner.grade_all(exercise, readable(), nursery, settings, record)
        graded = [replace(results[path], sandbox=sandbox) for path in options.files]
    write(graded, options)
    return errors.PASSED if all(result.status == "passed" for result in graded) else errors.FAILED


def demand_sandbox(nursery: Nursery, accepted: str | None):
    """What is in force, tried out. Raises InfrastructureError where it is not enough for others' code."""
    sandbox = nursery.sandbox
    if sandbox.holes:
        raise InfrastructureError(
            f"refused to grade: the sandbox (tier {sandbox.tier}) let this through: {', '.join(sandbox.holes)}. "
            "No mark was recorded. See: make doctor, and SECURITY.md"
        )
    if sandbox.tier == "D" and accepted != "D":
        why = "; ".join(sandbox.reasons) or "tier D was asked for"
        raise InfrastructureError(
            f"refused to grade others' code: there is no sandbox here ({why}). No mark was recorded. "
            "See: make doctor. To grade all the same, at your own risk: --accept-tier D"
        )
    return sandbox


def write(graded: list, options: argparse.Namespace) -> None:
    from grader.report import json as as_json

    if options.format == "json":
        report = {"schema": as_json.SCHEMA, "results": [as_json.record(result) for result in graded]}
        text = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
    else:
        text = "".join(f"{line(result)}\n" for result in graded)
    if options.output is None:
        sys.stdout.write(text)
        return
    try:
        options.output.write_text(text, "utf-8")
    except OSError as error:
        raise WrongUse(f"{options.output} cannot be written: {error.strerror}") from None


def line(result) -> str:
    """One file in one line: points, status, the file, and the first cause."""
    first = next((check for check in result.checks if check.outcome == "failed"), None)
    cause = result.message or (first.diagnosis or first.message if first else "")
    points = f"{result.points:g}/{result.max_points:g}"
    return f"{points:>9}  {result.status:<6}  {result.submission}  {cause.partition(chr(10))[0]}".rstrip()
