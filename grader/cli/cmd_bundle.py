"""Make the zip that learners get: lessons, stubs, hints, and the grader with the documented checks alone."""

import argparse
import sys
from pathlib import Path

from grader.catalog import errors
from grader.catalog.errors import WrongUse
from grader.integrations import bundle
from grader.records import whole_file


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    default = Path(f"{bundle.TOP}.zip")
    parser.add_argument("--output", metavar="FILE", type=Path, default=default, help=f"default: {default}")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    write(options.output, bundle.build())
    return errors.PASSED


def write(path: Path, data: bytes) -> None:
    """Write a file as a whole or not at all, and print its size. Raises WrongUse where it cannot be written."""
    replace(path, data)
    print(f"{path}: {len(data) / 1e3:,.0f} kB")


def save(path: Path, text: str) -> bool:
    """Write a result to a file, or to standard output where that fails. Returns whether the file was written."""
    try:
        replace(path, text)
        return True
    except WrongUse as error:
        print(error, file=sys.stderr)
        sys.stdout.write(text)
        return False


def replace(path: Path, data: bytes | str) -> None:
    """Write a file as a whole or not at all. Raises WrongUse where it cannot be written."""
    try:
        whole_file.write(path, data)
    except (OSError, ValueError) as error:
        name = str(path).encode("utf-8", "backslashreplace").decode()
        raise WrongUse(f"{name} cannot be written: {getattr(error, 'strerror', None) or error}") from None
