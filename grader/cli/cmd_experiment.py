"""Run the experiment of a lesson: its question, a table with bars, and whether its claim holds."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from grader import catalog
from grader.catalog import errors, paths
from grader.cli.cmd_check import first_not_done

if TYPE_CHECKING:
    from grader.desk.experiment import Experiment


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("exercise", nargs="?", metavar="EX", help="default: the first that is not done")
    parser.add_argument("--format", choices=("text", "json", "md"), default="text", help="md: the table of a lesson")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code: 1 where the claim does not hold."""
    exercise = catalog.find(options.exercise) if options.exercise is not None else first_not_done()
    from grader.desk import experiment

    measured = experiment.run(exercise)
    if options.format == "json":
        print(json.dumps({"schema": 1, "exercise": exercise.folder, **asdict(measured)}, indent=2))
    elif options.format == "md":
        print(experiment.markdown(measured), end="")
    else:
        say(exercise, measured)
    return errors.PASSED if measured.holds else errors.FAILED


def say(exercise: catalog.Exercise, measured: Experiment) -> None:
    """Print an experiment, no line wider than its table may be."""
    from rich.text import Text

    from grader.desk import experiment
    from grader.reports import terminal

    console, script = terminal.console(), paths.experiment(exercise.folder)
    console.width = min(console.width, experiment.WIDTH) if console.is_terminal else experiment.WIDTH
    console.print(Text(f"{exercise.folder[:2]} {exercise.title} · experiment", "bold"))
    console.print(Text(measured.question), "", sep="\n")
    for line in experiment.lines(measured):
        console.print(Text(line), soft_wrap=True)
    console.print("", Text(measured.claim), sep="\n")
    console.print(Text(experiment.verdict(measured), "green" if measured.holds else "bold red"))
    console.print(Text(f"Its script, for numbers of your own: {paths.shown(script)}", "dim"), soft_wrap=True)
