"""Pictures of one exercise: your attention weights beside the expected ones, for the documented sentence."""

import argparse
from pathlib import Path

from grader import catalog, errors, paths, submission
from grader.commands.check import first_not_done
from grader.errors import WrongUse
from grader.nursery import Nursery


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("exercise", nargs="?", metavar="EX", help="a number (3, 03), a slug or a folder name")
    parser.add_argument("--submission", metavar="FILE", type=Path, help="a .py file or an .ipynb notebook")
    parser.add_argument("--output", metavar="FILE", type=Path, help="write a .png, .svg or .pdf file")


def run(options: argparse.Namespace) -> int:
    exercise = catalog.find(options.exercise) if options.exercise is not None else first_not_done()
    if not paths.pictures(exercise.folder).exists():
        raise WrongUse(f"{exercise.folder} has no picture. Others have: make plot EX=03")
    path = options.submission or paths.stub(exercise.folder)
    with Nursery() as nursery:  # it imports torch while this process does
        from grader.pictures import taking

        try:
            pictures = taking.photograph(exercise, submission.read(path), nursery)
        except submission.BadSubmission as error:
            pictures = taking.blank(exercise, str(error))
    if options.output is not None:
        from grader.pictures import files

        files.save(pictures, options.output)
        print(f"{options.output} holds {len(pictures)} picture{'' if len(pictures) == 1 else 's'}.")
    else:
        show(exercise, pictures)
    return errors.PASSED


def show(exercise: catalog.Exercise, pictures) -> None:
    """Print the pictures in the terminal's width; a pipe gets eighty columns."""
    from rich.text import Text

    from grader.pictures.terminal import WIDTH, render
    from grader.report import terminal

    where = terminal.console()
    where.print(Text(f"{exercise.folder[:2]} {exercise.title}", "bold"))
    said = None
    for picture in pictures:
        for line in render(picture, where.width if where.is_terminal else WIDTH, note=picture.note != said):
            where.print(line, soft_wrap=True)
        said = picture.note
