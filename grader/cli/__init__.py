"""The command line. Each verb is declared by a decorator in a module of this package: see options.py.

Nothing heavy is imported here, so that `check` can start its fork server before it imports torch itself.
"""

import argparse
import difflib
import importlib.metadata
import importlib.util
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NoReturn

from grader.catalog import NoSuchExercise, errors, paths, project
from grader.catalog.errors import InfrastructureError, NoSuchFile, NothingLeft, WrongUse
from grader.cli.options import DECLARED
from grader.records.sanitize import inert

MODULES = {  # the module that declares each verb
    "check_verbs": ("check", "watch", "start", "stop"),
    "grade_verb": ("grade",),
    "class_verbs": ("explain", "fill"),
    "desk_verbs": (
        "init", "hint", "try", "review", "reset", "solution", "list", "progress", "plot", "figure", "experiment",
        "train", "report", "notebook", "write", "docs", "update", "doctor", "welcome", "portfolio",
    ),
    "author_verbs": ("verify", "stub", "new", "mistakes", "documented", "notebooks"),
    "platform_verbs": ("bundle", "gradescope", "classroom50", "nbgrader"),
}  # fmt: skip
VERBS = {verb: module for module, verbs in MODULES.items() for verb in verbs}
SEE_HELP = re.compile(r"See: kata ([a-z0-9]+) --help")
HELP = {
    "grade_verb": "help-teacher",
    "class_verbs": "help-teacher",
    "platform_verbs": "help-teacher",
    "author_verbs": "help-author",
}
REQUIRED = "the following arguments are required: "
# As argparse says it, the second one with the name of a function.
NO_CHOICE = re.compile(r"argument (\S+): invalid choice: (.*) \(choose from (.*)\)", re.S)
NO_NUMBER = re.compile(r"argument (\S+): invalid (\w+) value: (.*)", re.S)
WHOLE = ("int", "positive")  # the types of options that take whole numbers
MAKE = "--make"  # the first argument, where the Makefile calls
OF_CLONE = ("grade_verb", "class_verbs", "author_verbs", "platform_verbs")  # modules of teachers' and authors' verbs
ALSO_OF_CLONE = ("docs",)
ANYWHERE = ("init", "doctor", "stop")  # verbs that need no folder of exercises
OF_MAKE = re.compile(r"([A-Z]+)=(.*)", re.S)
LISTED_FOR_ALL = ("documented",)  # an author's verb that make lists for learners
PROOFS = ("verify",)  # verbs of which others ask only whether they failed
NEEDED = ("torch", "numpy", "einops", "jinja2", "packaging", "math_core", "pytest", "rich")  # as pyproject.toml says


def main(arguments: list[str] | None = None) -> int:
    """Run one command. Returns the exit code: 0 passed, 1 not passed, 2 wrong use, 3 not done.

    make prints an error of its own after every code but 0. So with --make, which the Makefile gives first, an answer
    that a person reads at a terminal ends with 0, whatever it says.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    words = sys.argv[1:] if arguments is None else arguments
    is_make = words[:1] == [MAKE]
    code, is_answer = _outcome(words[is_make:], is_make)
    return errors.PASSED if is_make and is_answer and _is_at_terminal() else code


def _outcome(words: list[str], is_make: bool) -> tuple[int, bool]:
    """Run one command. Returns its exit code, and whether that is an answer rather than an error."""
    try:
        if words == ["--version"]:
            print(_version())
            return errors.PASSED, True
        options = _options(words)
        if getattr(options, "device", "cpu") == "cpu" and options.verb != "doctor":
            # Otherwise the first gradient in this process starts NVIDIA's driver, which takes some tenths of a second.
            os.environ["CUDA_VISIBLE_DEVICES"] = ""
        code = options.run(options)
        sys.stdout.flush()  # raises where the disk is full
        return code, code == errors.FAILED and options.verb not in PROOFS
    except NoSuchExercise as error:
        print(inert(f"{error} See all: make list"), file=sys.stderr)
        return errors.WRONG_USE, False
    except (WrongUse, NoSuchFile) as error:
        # Who types make may have no kata on the path.
        print(inert(SEE_HELP.sub(_help_of_make, str(error)) if is_make else str(error)), file=sys.stderr)
        return errors.WRONG_USE, isinstance(error, NothingLeft)
    except InfrastructureError as error:
        print(f"The grader could not do its work: {inert(str(error))}", file=sys.stderr)
        return errors.NOT_DONE, False
    except KeyboardInterrupt as stop:
        print(str(stop) or "stopped", file=sys.stderr)
        return errors.STOPPED, True
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return errors.NOT_DONE, False
    except ModuleNotFoundError as error:
        if os.environ.get("GRADER_DEBUG") or (error.name or "").startswith("grader"):
            raise
        print(_without_package(error.name or ""), file=sys.stderr)
        return errors.WRONG_USE, False
    except Exception as error:
        if os.environ.get("GRADER_DEBUG"):
            raise
        kind = type(error).__name__
        print(f"The grader itself failed ({kind}: {inert(str(error))}). See more: GRADER_DEBUG=1", file=sys.stderr)
        return errors.NOT_DONE, False


def _help_of_make(found: re.Match[str]) -> str:
    """Where make lists a verb: there is a list of its own for teachers, and one for authors."""
    target = HELP.get(VERBS.get(found[1], ""), "help")
    return f"See: make {'help' if found[1] in LISTED_FOR_ALL else target}"


def _is_at_terminal() -> bool:
    """Whether a person reads what is printed."""
    return sys.stdout.isatty() and not os.environ.get("CI")


def _without_package(name: str) -> str:
    """The command to type where this Python lacks a package that the grader needs. name: the first missing one."""
    python = sys.executable
    missing = [package for package in NEEDED if importlib.util.find_spec(package) is None] or [name.partition(".")[0]]
    return (
        f"{python} has no {', '.join(missing)}. Two ways to fix it:\n"
        "  leave PYTHON out: make then builds an environment of its own in .venv, with all that is needed;\n"
        f"  or install it there: {paths.typed(python)} -m pip install -c constraints.txt -e {paths.typed(paths.ROOT)}"
    )


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Raise WrongUse instead of ending the process."""
        verb = self.prog.rpartition(" ")[2]
        if message == f"{REQUIRED}EX":
            raise WrongUse(f"Which exercise? Type its number: make {verb} EX=03")
        if message.startswith(REQUIRED):
            message = f"{verb} needs {' and '.join(message.removeprefix(REQUIRED).split(', '))}."
        if found := NO_NUMBER.fullmatch(message):
            message = f"{found[1]} takes {'a whole number' if found[2] in WHOLE else 'a number'}, not {found[3]}."
        if found := NO_CHOICE.fullmatch(message):
            given, known = found[2].strip("'"), [word.strip("'") for word in found[3].split(", ")]
            message = f"{found[1]} is {_one_of(known)}, not {given}.{_nearest(given, known)}"
        raise WrongUse(f"{message.removeprefix('argument ')}\nSee: {self.prog} --help")


def _options(words: list[str]) -> argparse.Namespace:
    """The options of a command. Raises WrongUse, with the nearest name, where one is unknown."""
    verb = next((word for word in words if not word.startswith("-")), None)
    if verb is not None and verb not in VERBS:
        raise WrongUse(f'kata has no command "{verb}".{_nearest(verb, VERBS)} See all: kata --help')
    parser, verbs = _parser(verb)
    if verb is not None and paths.IS_INSTALLED and not {"-h", "--help"} & {*words}:
        _demand_folder(verb)
    if verb is not None:
        words = _without_names_of_make(words, verbs[verb]._actions)
    options, unknown = parser.parse_known_args(words)
    if verb is None:
        parser.print_help()
        raise WrongUse("Which command? For example: kata check 03")
    if unknown:
        known = [name for action in verbs[verb]._actions for name in action.option_strings]
        nearest = _nearest(unknown[0].partition("=")[0], known)
        raise WrongUse(f"kata {verb} does not take {unknown[0]}.{nearest} See: kata {verb} --help")
    return options


def _without_names_of_make(words: Sequence[str], actions: Sequence[argparse.Action]) -> list[str]:
    """The words as kata takes them. Guides and messages write DROP=yes and EX=03, as make does.

    What stands without a name may have one too: --ex 03.
    """
    shared = Counter(action.metavar for action in actions)
    by_name: dict[object, argparse.Action] = {one.metavar: one for one in actions if shared[one.metavar] == 1}
    by_name |= {action.dest.upper(): action for action in actions}
    by_name |= {name.removeprefix("--").upper(): action for action in actions for name in action.option_strings}
    takes_value = {name for action in actions if action.nargs != 0 for name in action.option_strings}
    single = [action for action in actions if not action.option_strings and action.nargs in (None, "?")]
    without_name = {f"--{str(action.metavar).lower()}": action for action in single}
    without_name = {name: action for name, action in without_name.items() if name not in takes_value}
    kept, by_place = [], {}
    pairs = iter(zip(("", *words), words, strict=False))
    for before, word in pairs:
        name, is_joined, value = word.partition("=")
        if name in without_name and before not in takes_value:
            value = value if is_joined else next(pairs, ("", ""))[1]
            if not value:
                raise WrongUse(f"{name} needs a value.")
            by_place[actions.index(without_name[name])] = [value]
            continue
        found = OF_MAKE.fullmatch(word)
        action = by_name.get(found[1]) if found and before not in takes_value else None
        if found is None or action is None:
            kept.append(word)
        elif action.nargs == 0:
            kept += [action.option_strings[0]] if found[2] in ("yes", "1") else []
        else:
            values = found[2].split() if action.nargs in ("*", "+") else [found[2]]
            if action.option_strings:
                kept += [action.option_strings[0], *values]
            else:
                by_place[actions.index(action)] = values
    return kept + [value for _, values in sorted(by_place.items()) for value in values]


def _demand_folder(verb: str) -> None:
    """Raise WrongUse for a verb of an installed kata that has nothing to work on where it was typed."""
    if VERBS[verb] in OF_CLONE or verb in ALSO_OF_CLONE:
        raise WrongUse(
            f"kata {verb} is for teachers and authors, and works in a clone of the project. "
            f"Type: git clone {project.address()}"
        )
    if verb not in ANYWHERE and paths.LEARNERS is None:
        raise WrongUse(
            "This is no folder of exercises. To make one, type: kata init my-attention\n"
            "If you have one, go there first: cd my-attention"
        )


def _version() -> str:
    """The versions that a report of a fault should name."""
    torch = importlib.metadata.version("torch") if importlib.util.find_spec("torch") else "not installed"
    return f"kata {project.version()} (Python {sys.version.split()[0]}, torch {torch})"


def _one_of(words: Sequence[str]) -> str:
    """Several words, of which one is to be chosen."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _nearest(word: str, known: Iterable[str]) -> str:
    """A question for the nearest known word, or ""."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.75)
    return f" Did you mean {close[0]}?" if close else ""


def _parser(verb_given: str | None) -> tuple[_Parser, dict[str, _Parser]]:
    """The parser, and those of the verbs. Where the arguments name a verb, only that verb's module is imported."""
    parser = _Parser(prog="kata", description="Grades the exercises. README.md shows the make targets.")
    parser.add_argument("--version", action="store_true", help="show the versions of kata, Python and torch")
    verbs = parser.add_subparsers(metavar="VERB", dest="verb", parser_class=_Parser)
    for name in VERBS if verb_given is None else (verb_given,):
        importlib.import_module(f"grader.cli.{VERBS[name]}")
        verb = DECLARED[name]
        sub = verbs.add_parser(name, help=verb.summary, description=verb.summary)
        verb.add_options(sub)
        sub.set_defaults(run=verb.run)
    return parser, verbs.choices
