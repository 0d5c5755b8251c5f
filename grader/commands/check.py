"""Grade one exercise: your own file, or the one named by --submission."""

import argparse
import glob
import os
import secrets
import sys
from pathlib import Path

from grader import catalog, errors, paths, progress, submission
from grader.errors import WrongUse
from grader.nursery import InfrastructureError, Nursery

DEVICES = ("auto", "cpu", "cuda", "mps")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("exercise", nargs="?", metavar="EX", help="a number (3, 03), a slug or a folder name")
    parser.add_argument("--submission", metavar="FILE", type=Path, help="a .py file or an .ipynb notebook")
    parser.add_argument("--device", choices=DEVICES, default="cpu", help="default: cpu")
    parser.add_argument("--seed", type=int, help="of the fresh inputs; default: a new one each time")
    parser.add_argument("--timeout", type=seconds, metavar="S", help="seconds for one call")
    parser.add_argument("--format", choices=("text", "json", "junit", "github"), default="text")
    parser.add_argument("--output", metavar="FILE", type=Path, help="write the report there")
    parser.add_argument("--all", action="store_true", help="show every failed check in full")


def run(options: argparse.Namespace) -> int:
    device = pick_device(options.device)
    if options.exercise is None and options.submission is not None:
        raise WrongUse("--submission needs an exercise: make check EX=03 SUBMISSION=FILE")
    exercise = catalog.find(options.exercise) if options.exercise is not None else first_not_done()
    path = options.submission or paths.stub(exercise.folder)
    own = options.submission is None
    with Nursery(device) as nursery:  # it imports torch while this process does
        from grader import runner  # heavy, so not before

        demand_device(device)
        seed = options.seed if options.seed is not None else secrets.randbelow(1_000_000)
        settings = runner.Settings(device=device, seed=seed, timeout=options.timeout)
        source = ""
        try:
            handed_in = submission.read(path)
            source = handed_in.source
        except submission.BadSubmission as error:
            result = runner.unreadable(exercise, paths.shown(path), str(error), settings)
        else:
            result = runner.grade(exercise, handed_in, nursery, settings)
        if own:
            progress.note(result)
        closing = [hidden_follow(exercise), next_step(result) if own else ""]
        if nursery.tier.name == "D":
            closing.append("Your code ran without a sandbox (tier D). What would give one: make doctor")
    report(result, options, "\n".join(filter(None, closing)), source)
    return errors.PASSED if result.status == "passed" else errors.FAILED


def report(result, options: argparse.Namespace, closing: str, source: str = "") -> None:
    """Print the result, or write it to --output (and print the text for a person beside it)."""
    from grader.report import terminal

    rendered = None
    if options.format == "github":
        from grader.report import github

        rendered = github.annotations(result, source)
        add_summary(github.summary(result))
    elif options.format != "text":
        from grader.report import json as as_json
        from grader.report import junit as as_junit

        rendered = {"json": as_json, "junit": as_junit}[options.format].render(result)
    if options.output is None and rendered is not None:
        sys.stdout.write(rendered)
        return
    if options.output is not None:
        try:
            with options.output.open("w", encoding="utf-8") as file:
                if rendered is None:
                    terminal.show(result, terminal.console(file), options.all)
                else:
                    file.write(rendered)
        except OSError as error:
            raise WrongUse(f"{options.output} cannot be written: {error.strerror}") from None
    terminal.show(result, terminal.console(), options.all, closing)


def add_summary(text: str) -> None:
    """Add to the job's summary, where GitHub Actions says that there is one."""
    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        try:
            with open(path, "a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise InfrastructureError(f"the summary {path} cannot be written: {error.strerror}") from None


def hidden_follow(exercise) -> str:
    """In a learner's bundle: what is not graded here."""
    if not exercise.hidden_points:
        return ""
    whole = exercise.max_points + exercise.hidden_points
    return f"These are {exercise.max_points:g} of {whole:g} points. Hidden checks follow when you hand in."


def next_step(result) -> str:
    """The command that a learner would type next."""
    number = result.exercise[:2]
    if not result.started:
        return ""
    if result.status != "passed":
        return f"Mend it, then: make check EX={number} SEED={result.seed} gives the same inputs again."
    later = [exercise for exercise in catalog.exercises() if exercise.number > int(number)]
    return f"Next: make check EX={later[0].folder[:2]}  ({later[0].title})" if later else "That was the last one."


def first_not_done() -> catalog.Exercise:
    """The first exercise that is not passed, or the last one where all are."""
    states = progress.load()
    for exercise in catalog.exercises():
        if exercise.folder not in states or states[exercise.folder].status != "passed":
            return exercise
    return catalog.exercises()[-1]


def pick_device(wanted: str) -> str:
    """The device to grade on. "auto": CUDA or MPS where there is one, else the CPU."""
    if wanted == "auto":
        if glob.glob("/dev/nvidia[0-9]*"):
            return "cuda"
        return "mps" if sys.platform == "darwin" else "cpu"
    if wanted == "mps" and sys.platform != "darwin":
        raise InfrastructureError("there is no MPS device on this machine. Leave DEVICE out, or: DEVICE=cpu")
    return wanted


def demand_device(device: str) -> None:
    """Raise InfrastructureError where the device is absent."""
    if device != "cuda":
        return
    import torch

    if not torch.cuda.is_available():
        raise InfrastructureError("torch sees no CUDA device here. Leave DEVICE out, or: DEVICE=cpu")


def seconds(text: str) -> float:
    """The value of --timeout."""
    value = float(text)
    if not 0 < value <= 3600:
        raise argparse.ArgumentTypeError(f"{text} is out of range: seconds between 0 and 3600")
    return value
