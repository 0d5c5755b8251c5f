"""Write the files of a new exercise, with TODOs that verify refuses until they are filled."""

import argparse
import re

from grader import catalog
from grader.catalog import errors, paths
from grader.catalog.errors import WrongUse

SLUG = re.compile(r"[a-z][a-z0-9_]*")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("exercise", metavar="EX", help="its number, from 1 to 99")
    parser.add_argument("name", metavar="NAME", help="its slug: lower case, digits and underscores")
    parser.add_argument("--track", choices=(catalog.WARM_UP, "core", "beyond"), default="beyond")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    if not paths.SOLUTIONS.is_dir():
        raise WrongUse("This copy holds no solutions, so no exercise is made in it. Use the project's own repository.")
    from grader.authoring import scaffold  # not in a learner's bundle

    number, slug = options.exercise, options.name
    if not number.isdigit() or not 1 <= int(number) <= 99:
        raise WrongUse(f"{number} is no exercise number: make new EX=22 NAME=my_exercise")
    if not SLUG.fullmatch(slug):
        raise WrongUse(f"{slug!r} is no slug: lower case letters, digits and underscores, as in my_exercise")
    existing = [e.folder for e in catalog.exercises() if e.number == int(number) or e.slug == slug]
    if existing:
        raise WrongUse(f"{existing[0]} is there already: choose another number and name")
    folder = f"{int(number):02}_{slug}"
    for path, text in scaffold.files(folder, options.track).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        print(f"wrote {paths.shown(path)}")
    print(f"Fill the TODOs (docs/authors.md). What is left to do: make verify EX={folder[:2]}")
    return errors.PASSED
