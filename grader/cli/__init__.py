"""The command line. Each verb is a module cmd_<verb> of this package.

Nothing heavy is imported here, so that `check` can start its fork server before it imports torch itself.
"""

import argparse
import importlib.util
import os
import sys
from pathlib import Path
from typing import NoReturn

from grader.catalog import NoSuchExercise, errors, paths
from grader.catalog.errors import InfrastructureError, NoSuchFile, WrongUse

VERBS = (
    "check", "grade", "explain", "list", "progress", "documented", "mistakes", "verify", "stub", "new", "doctor",
    "plot", "nbgrader", "report", "watch", "hint", "reset", "solution", "notebook", "similar", "bundle", "gradescope",
    "classroom50", "docs", "train", "experiment", "try", "course", "handback",
)  # fmt: skip
NEEDED = ("torch", "numpy", "jinja2", "packaging", "pylatexenc", "pytest", "rich")  # as pyproject.toml says


def main(arguments: list[str] | None = None) -> int:
    """Run one command. Returns the exit code: 0 passed, 1 not passed, 2 wrong use, 3 not done."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        options = _parser(arguments).parse_args(arguments)
        if not hasattr(options, "run"):
            _parser(["--help"]).print_help()
            return errors.WRONG_USE
        code = options.run(options)
        sys.stdout.flush()  # raises where the disk is full
        return code
    except (WrongUse, NoSuchExercise, NoSuchFile) as error:
        print(error, file=sys.stderr)
        return errors.WRONG_USE
    except InfrastructureError as error:
        print(f"The grader could not do its work: {error}", file=sys.stderr)
        return errors.NOT_DONE
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return errors.NOT_DONE
    except ModuleNotFoundError as error:
        if os.environ.get("GRADER_DEBUG") or (error.name or "").startswith("grader"):
            raise
        print(_without_package(error.name or ""), file=sys.stderr)
        return errors.WRONG_USE
    except Exception as error:
        if os.environ.get("GRADER_DEBUG"):
            raise
        kind = type(error).__name__
        print(f"The grader itself failed ({kind}: {error}). See more: GRADER_DEBUG=1", file=sys.stderr)
        return errors.NOT_DONE


def _without_package(name: str) -> str:
    """The command to type where this Python lacks a package that the grader needs. name: the first missing one."""
    python = sys.executable
    missing = [package for package in NEEDED if importlib.util.find_spec(package) is None] or [name.partition(".")[0]]
    return (
        f"{python} has no {', '.join(missing)}. Two ways to mend it:\n"
        "  leave PYTHON out: make then builds an environment of its own in .venv, with all that is needed;\n"
        f"  or install it there: {python} -m pip install -c constraints.txt -e {paths.shown(paths.ROOT)}"
    )


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Raise WrongUse instead of ending the process."""
        verb = self.prog.rpartition(" ")[2]
        if message == "the following arguments are required: EX":
            raise WrongUse(f"Which exercise? Type its number: make {verb} EX=03")
        raise WrongUse(f"{message}\nSee: {self.prog} --help")


def _parser(arguments: list[str] | None) -> argparse.ArgumentParser:
    """The parser. Where the arguments name a verb, only that verb's module is imported."""
    argument_list = sys.argv[1:] if arguments is None else arguments
    program = "kata" if Path(sys.argv[0]).stem == "kata" else "python -m grader"
    parser = _Parser(prog=program, description="Grades the exercises. README.md shows the make targets.")
    verbs = parser.add_subparsers(metavar="VERB", parser_class=_Parser)
    verb_given = next((argument for argument in argument_list if not argument.startswith("-")), None)
    for verb in VERBS if verb_given not in VERBS else (verb_given,):
        module = importlib.import_module(f"grader.cli.cmd_{verb}")
        summary = module.__doc__.splitlines()[0]
        sub = verbs.add_parser(verb, help=summary, description=summary)
        module.arguments(sub)
        sub.set_defaults(run=module.run)
    return parser
