"""Build the lessons as a site of static pages, to be read in a browser without a network."""

import argparse
from pathlib import Path

from grader.catalog import errors, paths


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", metavar="FOLDER", type=Path, default=paths.SITE, help="default: site")


def run(options: argparse.Namespace) -> int:
    from grader.integrations.site import building

    pages = building.build(options.output)
    shown = paths.shown(options.output)
    print(f"{shown} holds {pages} pages. Open {shown}/index.html in a browser; it needs no network.")
    return errors.PASSED
