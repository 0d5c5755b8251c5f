"""Train the model that you wrote in an earlier exercise, and look on. It takes no part in grading."""

import argparse
from pathlib import Path

from grader import catalog
from grader.catalog import errors, paths
from grader.catalog.errors import WrongUse
from grader.desk import progress
from grader.records import submission
from grader.sandbox.forkserver import ForkServer


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("exercise", nargs="?", metavar="EX", help="a number (23), a slug or a folder name")
    parser.add_argument(
        "--steps", type=positive, metavar="N", help="default: as many as the lesson's model was trained"
    )
    parser.add_argument("--layers", type=positive, default=2, metavar="N", help="of the model; default: 2")
    parser.add_argument("--seed", type=int, default=0, help="of the first numbers and of the tokens; default: 0")
    parser.add_argument("--submission", metavar="FILE", type=Path, help="a .py file or an .ipynb notebook with a model")
    parser.add_argument("--output", metavar="FILE", type=Path, help="write the trained numbers there, as a state dict")
    parser.add_argument("--force", action="store_true", help="train the reference, also before you have passed")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    exercise = with_training(options.exercise)
    path = options.submission or model_file(exercise, options.force)
    read = submission.read(path)
    with ForkServer() as fork_server:  # it imports torch while this process does
        from grader.desk import training

        course = training.Course(options.layers, options.steps, options.seed)
        state = training.train(exercise, read, fork_server, course)
        if options.output is not None:
            training.save(state, options.output)
            print(f"{options.output} holds the trained numbers.")
    return errors.PASSED


def with_training(name: str | None) -> catalog.Exercise:
    """The exercise of this name, or the first that trains a model. Raises WrongUse where it trains none."""
    trained = [exercise for exercise in catalog.exercises() if exercise.trains]
    if name is None and trained:
        return trained[0]
    exercise = catalog.find(name or "")
    if not exercise.trains:
        commands = ", ".join(f"make train EX={other_exercise.folder[:2]}" for other_exercise in trained)
        raise WrongUse(f"{exercise.folder} trains no model. {commands} does.")
    return exercise


def model_file(exercise: catalog.Exercise, force: bool) -> Path:
    """The learner's own model, once passed. Raises WrongUse before that, and where there is nothing to train."""
    written = catalog.find(exercise.trains)
    if progress.load().get(written.folder, progress.State()).done:
        return paths.stub(written.folder)
    number, reference = written.folder[:2], paths.solution(written.folder)
    if force and reference.exists():
        return reference
    first = f"The model is that of {number}, which you have not passed yet: make check EX={number}"
    if not reference.exists():
        raise WrongUse(first)
    raise WrongUse(f"{first}\nTo train the reference all the same: make train EX={exercise.folder[:2]} FORCE=1")


def positive(text: str) -> int:
    """The value of --steps and --layers."""
    value = int(text)
    if not 0 < value <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text} is out of range: 1 or more")
    return value
