"""Make the zip that learners get: lessons, stubs, hints, and the grader with the documented checks alone."""

import argparse
from pathlib import Path

from grader import bundle, errors
from grader.errors import WrongUse


def arguments(parser: argparse.ArgumentParser) -> None:
    default = Path(f"{bundle.TOP}.zip")
    parser.add_argument("--output", metavar="FILE", type=Path, default=default, help=f"default: {default}")


def run(options: argparse.Namespace) -> int:
    write(options.output, bundle.build())
    return errors.PASSED


def write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, and say so."""
    replace(path, data)
    print(f"{path}: {len(data) / 1e3:,.0f} kB")


def replace(path: Path, data: bytes | str) -> None:
    """Write a file whole or not at all. Raises WrongUse."""
    new = path.with_name(f".{path.name}.new")
    try:
        new.write_bytes(data.encode() if isinstance(data, str) else data)
        new.replace(path)
    except OSError as error:
        raise WrongUse(f"{path} cannot be written: {error.strerror}") from None
