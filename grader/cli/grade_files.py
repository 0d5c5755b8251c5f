"""`grade` for a few files of one exercise."""

import argparse
import gc
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from grader import catalog
from grader.catalog import errors, paths
from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.records import submission
from grader.records.results import ExerciseResult
from grader.records.sanitize import label
from grader.records.submission import Submission
from grader.sandbox.devices import demand_device, pick_device
from grader.sandbox.forkserver import ForkServer


def run_files(options: argparse.Namespace) -> int:
    """Grade a few files. Returns exit code 1 where one did not pass, 3 where one could not be graded."""
    exercise = catalog.find(options.what)
    for path in options.files:
        if not os.path.lexists(path):  # said at once, before the fork server starts
            raise NoSuchFile(f"There is no file {paths.shown(path)}.")
    device = pick_device(options.device or "cpu")
    with ForkServer(device, options.tier) as fork_server:
        from grader.judge import examiner  # heavy: it imports torch while the fork server does
        from grader.records.seeds import secret_seed

        demand_device(device)
        sandbox = fork_server.demand(options.accept_tier)
        seed = options.seed if options.seed is not None else secret_seed()
        settings = examiner.Settings(device=device, seed=seed, timeout=options.timeout, reveal=False)
        results: dict[Path, ExerciseResult] = {}

        def readable() -> Iterator[Submission]:
            """The files that can be read. The others get their results here."""
            for path in options.files:
                try:
                    yield replace(submission.read(path, is_own=False), filename=str(path))
                except BadSubmission as error:
                    results[path] = examiner.unreadable(exercise, paths.shown(path), str(error), settings)
                except Exception as error:
                    results[path] = examiner.broken(exercise, paths.shown(path), error, settings)

        def record(submitted: Submission, result: ExerciseResult) -> None:
            """Keep a result by the path of its file."""
            results[Path(submitted.filename)] = result

        gc.freeze()
        gc.enable()  # the answers of one file must be freed while the next is graded
        examiner.grade_all(exercise, readable(), fork_server, settings, record)
        graded = [replace(results[path], sandbox=sandbox) for path in options.files]
    return errors.of_verdicts(graded) if write(graded, options) else errors.NOT_DONE


def write(graded: list[ExerciseResult], options: argparse.Namespace) -> bool:
    """Write the report in the requested format. Returns whether it is where it was requested."""
    from grader.reports import json as as_json
    from grader.reports.delivery import deliver

    if options.format == "json":
        report = {"schema": as_json.SCHEMA, "results": [as_json.record(result) for result in graded]}
        text = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
    else:
        text = "".join(f"{line(result)}\n" for result in graded)
    return deliver(text, options.output)


def line(result: ExerciseResult) -> str:
    """One result in one line: points, status, file, and the first cause of a failure."""
    first = next((check for check in result.checks if check.outcome == "failed"), None)
    cause = result.message or (first.diagnosis or first.message if first else "")
    points = f"{result.points:g}/{result.max_points:g}"
    return f"{points:>9}  {result.status:<6}  {label(result.submission)}  {cause.partition(chr(10))[0]}".rstrip()
