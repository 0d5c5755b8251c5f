"""Grade others' files behind a sandbox that has been tried out: a folder of a whole class, or a few files."""

import argparse
from pathlib import Path

from grader.catalog.errors import WrongUse
from grader.cli import grade_class, grade_files, processes
from grader.cli.cmd_check import seconds
from grader.sandbox.devices import DEVICES

TIERS = ("A", "B", "C", "D")
FORMS = ("plain", "canvas", "moodle")
LEVELS = ("where", "full", "hints", "names", "none")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.usage = "%(prog)s DIR [--out results] …  |  %(prog)s EX FILE …  |  %(prog)s --nbgrader COURSE …"
    parser.set_defaults(help_command=f"{parser.prog} --help")
    parser.add_argument("what", metavar="DIR | EX", nargs="?", help="a folder of submissions, or an exercise")
    parser.add_argument("files", metavar="FILE", nargs="*", type=Path, help=".py files or .ipynb notebooks of EX")
    parser.add_argument("--device", choices=DEVICES, help="default: cpu")
    parser.add_argument(
        "--seed", type=int, help="of the fresh inputs, the same for all; default: a new secret of the run"
    )
    parser.add_argument("--timeout", type=seconds, metavar="S", help="seconds for one call")
    parser.add_argument("--tier", choices=TIERS, help="this sandbox and no other; default: the strongest there is")
    parser.add_argument("--accept-tier", choices=("D",), help="grade although there is no sandbox: your own risk")
    few = parser.add_argument_group("a few files")
    few.add_argument("--files", metavar="FILE", nargs="+", type=Path, dest="named", help="the same as FILE, of --ex")
    few.add_argument("--format", choices=("text", "json"), default="text")
    few.add_argument("--output", metavar="FILE", type=Path, help="write the report there")
    many = parser.add_argument_group("a class")
    many.add_argument("--submissions", metavar="DIR", type=Path, help="the same as DIR")
    many.add_argument("--out", metavar="DIR", type=Path, default=Path("results"), help="default: results")
    many.add_argument("--ex", metavar="03,07", default="all", help="these exercises; default: all")
    many.add_argument("--jobs", metavar="N", type=processes.number, help="processes; default: one a core")
    many.add_argument("--dask", metavar="ADDRESS", help="grade on a Dask cluster: its scheduler's address or file")
    many.add_argument("--csv", choices=FORMS, default="plain", help="the columns of grades.csv")
    many.add_argument("--feedback", choices=LEVELS, help="how much feedback.html tells; default: as course.toml says")
    many.add_argument("--roster", metavar="FILE", type=Path, help="who is in the class: a platform's CSV, or a folder")
    many.add_argument("--rules", metavar="FILE", type=Path, help="default: course.toml, where there is one")
    many.add_argument("--drop", action="store_true", help="students and hand-ins that are not there any more may go")
    many.add_argument("--anonymous", action="store_true", help="class.html with pseudonyms")
    many.add_argument("--log", metavar="FILE", type=Path, help="append every event as a line of JSON")
    many.add_argument("--nbgrader", metavar="COURSE", type=Path, help="a course of nbgrader, recorded in its gradebook")
    many.add_argument("--assignment", metavar="NAME", help="of that course")
    many.add_argument("--force", action="store_true", help="grade what the gradebook has as autograded too")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    if options.nbgrader is not None:
        return grade_class.run_nbgrader(options)
    if options.named and options.ex != "all" and not options.what:
        options.what, options.files = options.ex, options.named
    if options.submissions is None and options.what and not options.files and Path(options.what).exists():
        options.submissions, options.what = Path(options.what), None
    if options.submissions is not None:
        if options.what or options.files:
            raise WrongUse("name a folder of submissions, or an exercise and its files, not both")
        return grade_class.run_class(options)
    if not options.what or not options.files:
        raise WrongUse(f"name a folder of submissions, or an exercise and its files\nSee: {options.help_command}")
    return grade_files.run_files(options)
