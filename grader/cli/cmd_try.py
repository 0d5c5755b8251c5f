"""Run the lesson's example calls on your file, or a line of your own."""

import argparse
from pathlib import Path

from grader import catalog
from grader.catalog import errors, paths
from grader.catalog.errors import BadSubmission, WrongUse
from grader.cli.cmd_check import first_not_done
from grader.records import submission
from grader.sandbox.forkserver import ForkServer


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("exercise", nargs="?", metavar="EX", help="default: the first that is not done")
    parser.add_argument("--args", metavar="LINE", help="this line instead, with the lesson's tensors at hand")
    parser.add_argument("--submission", metavar="FILE", type=Path, help="a .py file or an .ipynb notebook")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    exercise = catalog.find(options.exercise) if options.exercise is not None else first_not_done()
    from grader.desk import examples

    of_lesson = examples.of(exercise.folder)
    if not of_lesson:
        raise WrongUse(f"There are no calls in {paths.shown(paths.lesson(exercise.folder))}.")
    with ForkServer() as fork_server:  # it imports torch while this process does
        from grader.desk import try_page, tryout
        from grader.reports import terminal

        console = terminal.console()
        own_examples = tryout.of_line(options.args) if options.args else ()
        try:
            submitted = submission.read(options.submission or paths.stub(exercise.folder))
        except BadSubmission as error:
            raise WrongUse(str(error)) from None
        outcomes = [*tryout.run(exercise, submitted, (*of_lesson, *own_examples), fork_server)]
    if own_examples:
        outcomes = [outcome for outcome in outcomes if outcome.example.task == tryout.OWN]
    for part in try_page.page(exercise, outcomes, console.width):
        console.print(part, crop=False)
    return errors.PASSED
