"""Write one HTML page of all your exercises: state, last verdicts, pictures, hints left, lessons."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import time
import urllib.parse
from pathlib import Path
from typing import TYPE_CHECKING

from grader import catalog
from grader.catalog import errors, paths
from grader.catalog.errors import BadSubmission, NoSuchFile, WrongUse
from grader.desk import progress
from grader.records import submission
from grader.records.results import ExerciseResult
from grader.sandbox.forkserver import ForkServer

if TYPE_CHECKING:
    from grader.judge.pictures import Picture


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("--output", metavar="FILE", type=Path, default=Path("report.html"), help="default: report.html")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code. Raises WrongUse where the page cannot be written."""
    if not options.output.parent.is_dir():  # said before anything is graded
        raise WrongUse(f"{options.output} cannot be written: {options.output.parent} is no folder")
    with ForkServer() as fork_server:  # it imports torch while this process does
        from grader.desk import overview
        from grader.reports import learner_report

        verdicts = [_verdict_and_pictures(exercise, fork_server) for exercise in catalog.exercises()]
        rows = overview.rows()  # after the gradings, which change it
        entries = [
            learner_report.Entry(
                row, result, pictures, *_hints(row["exercise"]), _lesson(row["exercise"], options.output)
            )
            for row, (result, pictures) in zip(rows, verdicts, strict=True)
        ]
    page = learner_report.page(entries, overview.tracks(rows), time.time())
    try:
        options.output.write_text(page, "utf-8")
    except OSError as error:
        raise WrongUse(f"{options.output} cannot be written: {error.strerror}") from None
    print(f"{options.output} is written. Open it in a browser; it needs no network.")
    return errors.PASSED


def _verdict_and_pictures(
    exercise: catalog.Exercise, fork_server: ForkServer
) -> tuple[ExerciseResult | None, tuple[Picture, ...]]:
    """The verdict on the learner's file, which is graded only if it has changed, and its pictures."""
    from grader.judge import capture, examiner  # heavy: torch

    path = paths.stub(exercise.folder)
    result = progress.last(exercise.folder)
    try:
        submitted = submission.read(path)
        if result is None or path.stat().st_mtime > paths.last_result(exercise.folder).stat().st_mtime:
            print(f"grading {exercise.folder} …", file=sys.stderr, flush=True)
            settings = examiner.Settings(seed=secrets.randbelow(1_000_000))
            result = examiner.grade(exercise, submitted, fork_server, settings)
            progress.note(result, attempt=False)
        if not result.started:
            return progress.last(exercise.folder, progress.NOTEBOOK) or result, ()
        return result, tuple(capture.capture_pictures(exercise, submitted, fork_server))
    except BadSubmission as error:
        settings = examiner.Settings()
        return examiner.unreadable(exercise, paths.shown(path), str(error), settings), ()
    except (NoSuchFile, FileNotFoundError):
        return None, ()


def _hints(folder: str) -> tuple[int, int]:
    """The number of hints, and of those that are left."""
    from grader.desk import hints

    return len(hints.all_hints(folder)), hints.left(folder)


def _lesson(folder: str, output: Path) -> str:
    """The relative address of the lesson: in the site where `make docs` built it, else a page beside the report.

    Raises WrongUse where that cannot be written.
    """
    target = paths.site_page(folder)
    if not target.exists():
        from grader.reports import lesson_page

        target = output.with_name(f"{output.stem}-lessons") / f"{folder}.html"
        title, lesson = f"{folder[:2]} {catalog.find(folder).title}", paths.lesson(folder)
        try:
            target.parent.mkdir(exist_ok=True)
            target.write_text(lesson_page.page(lesson.read_text("utf-8"), title, lesson.parent), "utf-8")
        except OSError as error:
            raise WrongUse(f"{target} cannot be written: {error.strerror}") from None
    relative = os.path.relpath(target, output.resolve().parent)
    return urllib.parse.quote(Path(relative).as_posix())
