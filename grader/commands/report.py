"""Write one HTML page of all your exercises: state, last verdicts, pictures, hints left, lessons."""

import argparse
import os
import secrets
import sys
import time
import urllib.parse
from pathlib import Path

from grader import catalog, errors, paths, progress, submission
from grader.errors import WrongUse
from grader.nursery import Nursery


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", metavar="FILE", type=Path, default=Path("report.html"), help="default: report.html")


def run(options: argparse.Namespace) -> int:
    with Nursery() as nursery:  # it imports torch while this process does
        from grader.desk import standing
        from grader.report import overview

        looked = [_look(exercise, nursery) for exercise in catalog.exercises()]
        found = standing.rows()  # after the gradings, which change it
        entries = [
            overview.Entry(row, result, pictures, *_hints(row["exercise"]), _lesson(row["exercise"], options.output))
            for row, (result, pictures) in zip(found, looked, strict=True)
        ]
    page = overview.page(entries, standing.tracks(found), time.time())
    try:
        options.output.write_text(page, "utf-8")
    except OSError as error:
        raise WrongUse(f"{options.output} cannot be written: {error.strerror}") from None
    print(f"{options.output} is written. Open it in a browser; it needs no network.")
    return errors.PASSED


def _look(exercise: catalog.Exercise, nursery: Nursery) -> tuple:
    """The verdict on the learner's file, graded anew only if it changed since, and its pictures."""
    from grader import runner  # heavy: torch
    from grader.pictures import taking

    path = paths.stub(exercise.folder)
    known = progress.last(exercise.folder)
    try:
        handed_in = submission.read(path)
        if known is None or path.stat().st_mtime > paths.last_result(exercise.folder).stat().st_mtime:
            print(f"grading {exercise.folder} …", file=sys.stderr, flush=True)
            known = runner.grade(exercise, handed_in, nursery, runner.Settings(seed=secrets.randbelow(1_000_000)))
            progress.note(known, attempt=False)
        of_this_file = Path(known.submission).name == path.name  # a verdict may be that of a notebook
        return known, taking.photograph(exercise, handed_in, nursery) if known.started and of_this_file else ()
    except submission.BadSubmission as error:
        settings = runner.Settings()
        return runner.unreadable(exercise, paths.shown(path), str(error), settings), ()
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
