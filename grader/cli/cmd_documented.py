"""List the numbers that the source documents print, and the check that grades each."""

import argparse
import json
from dataclasses import asdict

from grader.catalog import errors


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("--format", choices=("text", "json", "md"), default="text")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    from grader.authoring import tables  # heavy: torch
    from grader.catalog import documented

    numbers = documented.all_numbers()
    if options.format == "json":
        print(json.dumps([asdict(number) for number in numbers], indent=2, ensure_ascii=False))
    elif options.format == "md":
        print(tables.documented_table(numbers), end="")
    else:
        for number in numbers:
            printed = " ".join(number.printed.split())
            short = printed if len(printed) <= 60 else printed[:59] + "…"
            print(f"{number.exercise}  {number.id}\n    {number.source}, {number.place}")
            print(f"    graded by {number.check}: {short}")
        print(f"{len(numbers)} documented numbers")
    return errors.PASSED
