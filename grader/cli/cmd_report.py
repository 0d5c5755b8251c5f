"""Write one HTML page of all your exercises: state, last verdicts, pictures, hints left, lessons."""

import argparse
import os
import secrets
import sys
import time
import urllib.parse
from pathlib import Path

from grader import catalog
from grader.catalog import errors, paths
from grader.catalog.errors import WrongUse
from grader.desk import progress
from grader.records import submission
from grader.sandbox.forkserver import ForkServer


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", metavar="FILE", type=Path, default=Path("report.html"), help="default: report.html")


def run(options: argparse.Namespace) -> int:
    with ForkServer() as fork_server:  # it imports torch while this process does
        from grader.desk import overview
        from grader.reports import learner_report

        looked = [_look(exercise, fork_server) for exercise in catalog.exercises()]
        found = overview.rows()  # after the gradings, which change it
        entries = [
            learner_report.Entry(
                row, result, pictures, *_hints(row["exercise"]), _lesson(row["exercise"], options.output)
            )
            for row, (result, pictures) in zip(found, looked, strict=True)
        ]
    page = learner_report.page(entries, overview.tracks(found), time.time())
    try:
        options.output.write_text(page, "utf-8")
    except OSError as error:
        raise WrongUse(f"{options.output} cannot be written: {error.strerror}") from None
    print(f"{options.output} is written. Open it in a browser; it needs no network.")
    return errors.PASSED


def _look(exercise: catalog.Exercise, fork_server: ForkServer) -> tuple:
    """The verdict on the learner's file, graded anew only if it changed since, and its pictures."""
    from grader.judge import (
        capture,
        examiner,  # heavy: torch
    )

    path = paths.stub(exercise.folder)
    known = progress.last(exercise.folder)
    try:
        handed_in = submission.read(path)
        if known is None or path.stat().st_mtime > paths.last_result(exercise.folder).stat().st_mtime:
            print(f"grading {exercise.folder} …", file=sys.stderr, flush=True)
            known = examiner.grade(
                exercise, handed_in, fork_server, examiner.Settings(seed=secrets.randbelow(1_000_000))
            )
            progress.note(known, attempt=False)
        of_this_file = Path(known.submission).name == path.name  # a verdict may be that of a notebook
        return known, capture.capture_pictures(
            exercise, handed_in, fork_server
        ) if known.started and of_this_file else ()
    except submission.BadSubmission as error:
        settings = examiner.Settings()
        return examiner.unreadable(exercise, paths.shown(path), str(error), settings), ()
    except (submission.NoSuchFile, FileNotFoundError):
        return None, ()


def _hints(folder: str) -> tuple[int, int]:
    """How many hints there are, and how many are left."""
    from grader.desk import hints

    return len(hints.all_hints(folder)), hints.left(folder)


def _lesson(folder: str, output: Path) -> str:
    """The way from the page to the lesson: in the site where `make docs` has built it, else its source."""
    built = paths.site_page(folder)
    target = built if built.exists() else paths.lesson(folder)
    way = os.path.relpath(target, output.resolve().parent)
    return urllib.parse.quote(Path(way).as_posix())
