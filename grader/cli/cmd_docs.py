"""Build the lessons as a site of static pages, to be read in a browser without a network."""

import argparse
from pathlib import Path

from grader.catalog import errors, paths


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("--output", metavar="FOLDER", type=Path, default=paths.SITE, help="default: site")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    from grader.integrations.site import building

    pages = building.build(options.output)
    folder = paths.shown(options.output)
    print(f"{folder} holds {pages} pages. Open {folder}/index.html in a browser; it needs no network.")
    return errors.PASSED
