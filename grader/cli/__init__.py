"""The command line. Each verb is declared once, by a decorator in a module of this package: see options.py.

Nothing heavy is imported here, so that `check` can start its fork server before it imports torch itself. make hands on
what it was given, so each verb takes NAME=value beside --name value.
"""

import argparse
import difflib
import glob
import importlib
import importlib.metadata
import importlib.util
import os
import re
import shlex
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import NoReturn

from grader.catalog import NoSuchExercise, errors, paths, project
from grader.catalog.errors import BadSubmission, InfrastructureError, NoSuchFile, NotForThisMachine, WrongUse
from grader.cli.options import DECLARED, NO, YES, Verb
from grader.records.sanitize import inert

FIRST = ("start", "check", "try", "hint", "solution", "progress")
HIDDEN = ("welcome",)
LISTS = {"learn": "… and more", "teach": "Teach", "author": "Write exercises"}  # by the module that declares its verbs
OF_SOLUTIONS = ("solution", "plot", "update")  # a learner's verbs that a bundle has nothing for
MAKE = "--make"  # the first argument, where the Makefile calls
OF_MAKE = re.compile(r"^([a-z]+):.*  ## (.+)$", re.M)  # a target that is no verb, and its words
NAMED = re.compile(r"([A-Za-z_]+)=(.*)", re.S)
SEE_HELP = re.compile(r"See: kata ([a-z0-9]+) --help")
REQUIRED = "the following arguments are required: "


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
    is_at_terminal = sys.stdout.isatty() and not os.environ.get("CI")
    return errors.PASSED if is_make and is_answer and is_at_terminal else code


def _outcome(words: list[str], is_make: bool) -> tuple[int, bool]:
    """Run one command. Returns its exit code, and whether that is an answer rather than an error."""
    command = "make" if is_make else "kata"
    try:
        if words[:1] == ["help"]:
            words = [*words[1:2], "--help"]
        if words in ([], ["-h"], ["--help"]):
            print(lists(command), end="")
            return errors.PASSED, True
        if words == ["--version"]:  # what a report of a fault should name
            torch = importlib.metadata.version("torch") if importlib.util.find_spec("torch") else "not installed"
            print(f"kata {project.version()} (Python {sys.version.split()[0]}, torch {torch})")
            return errors.PASSED, True
        options = options_of(words, command)
        if getattr(options, "device", "cpu") == "cpu" and options.verb != "doctor":
            # Otherwise the first gradient in this process starts NVIDIA's driver, which takes some tenths of a second.
            os.environ["CUDA_VISIBLE_DEVICES"] = ""
        code = options.run(options) or errors.PASSED
        sys.stdout.flush()  # raises where the disk is full
        return code, code == errors.FAILED and options.verb != "verify"  # whose callers ask whether it failed
    except (NoSuchExercise, WrongUse, NoSuchFile, BadSubmission) as error:
        said = f"{error} See all: {command} progress" if isinstance(error, NoSuchExercise) else str(error)
        # Who types make may have no kata on the path.
        print(inert(SEE_HELP.sub(r"See: make help \1", said) if is_make else said), file=sys.stderr)
        return errors.WRONG_USE, False
    except InfrastructureError as error:
        is_answer = isinstance(error, NotForThisMachine)
        print("" if is_answer else "The grader could not do its work: ", inert(str(error)), sep="", file=sys.stderr)
        return errors.NOT_DONE, is_answer
    except KeyboardInterrupt as stop:
        print(str(stop) or "stopped", file=sys.stderr)
        return errors.STOPPED, True
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return errors.NOT_DONE, False
    except Exception as error:
        if os.environ.get("GRADER_DEBUG"):
            raise
        if isinstance(error, ModuleNotFoundError) and not (error.name or "").startswith("grader"):
            python = paths.typed(sys.executable)
            install = f"{python} -m pip install -c constraints.txt -e {paths.typed(paths.ROOT)}"
            print(f"{python} has no {error.name}. To let make build .venv, leave PYTHON out.", file=sys.stderr)
            print(f"Or install it there: {install}", file=sys.stderr)
            return errors.WRONG_USE, False
        kind = type(error).__name__
        print(f"The grader itself failed ({kind}: {inert(str(error))}). See more: GRADER_DEBUG=1", file=sys.stderr)
        return errors.NOT_DONE, False


def lists(command: str) -> str:
    """The verbs that work here, by who types them, each with its summary in a line or two of 80 columns.

    command: make or kata, whichever was typed.
    """
    lines = [f"One exercise: {command} check EX=03. What a verb takes: {command} help check"]
    for title, names in shown_lists().items():
        lines += ["", title]
        for name, summary in names.items():
            lines += textwrap.wrap(summary, 80, initial_indent=f"  {name:<12}", subsequent_indent=" " * 14)
    return "\n".join(lines) + "\n"


def shown_lists() -> dict[str, dict[str, str]]:
    """The lists of verbs that work here, by title: each verb with its summary."""
    has_solutions = paths.SOLUTIONS.is_dir()
    is_whole = has_solutions and not paths.IS_INSTALLED
    hidden = HIDDEN if has_solutions else (*HIDDEN, *OF_SOLUTIONS)
    shown: dict[str, dict[str, str]] = {}
    for module in LISTS if is_whole else ("learn",):
        importlib.import_module(f"grader.cli.{module}")
        for name, verb in DECLARED.items():
            is_its = verb.run.__module__ == f"grader.cli.{module}"
            if is_its and name not in hidden:
                shown.setdefault("Learn" if name in FIRST else LISTS[module], {})[name] = verb.summary
    if is_whole:
        shown["Write exercises"] |= dict(OF_MAKE.findall(paths.at_root("Makefile").read_text("utf-8")))
    return shown


def declared(name: str) -> Verb | None:
    """The verb of this name; None where there is none. A module is imported if those before it do not declare it."""
    for module in LISTS:
        importlib.import_module(f"grader.cli.{module}")
        if name in DECLARED:
            return DECLARED[name]
    return None


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Raise WrongUse instead of ending the process."""
        verb = self.prog.rpartition(" ")[2]
        if message == f"{REQUIRED}EX":
            raise WrongUse(f"Which exercise? Type its number: make {verb} EX=03")
        if message.startswith(REQUIRED):
            message = f"{verb} needs {' and '.join(message.removeprefix(REQUIRED).split(', '))}."
        raise WrongUse(f"{message.removeprefix('argument ')}\nSee: kata {verb} --help")


def options_of(words: Sequence[str], command: str = "kata") -> argparse.Namespace:
    """The options of a command. Raises WrongUse, with the nearest name, where one is unknown."""
    name = words[0]
    verb = declared(name)
    if verb is None:
        if words_on_it := shown_lists().get("Write exercises", {}).get(name):  # a target of the Makefile's own
            raise WrongUse(f"make {name}: {words_on_it}")
        raise WrongUse(f'There is no command "{name}".{_nearest(name, DECLARED)} See all: {command} help')
    if paths.IS_INSTALLED and not {"-h", "--help"} & {*words}:
        _demand_folder(name, verb)
    plain, given, unknown = _without_names(words[1:], verb)
    options, rest = _parser(name, verb, given).parse_known_args(plain)
    if unknown := [*unknown, *rest]:
        word = unknown[0].partition("=")[0]
        known = [name for option in verb.options for name in (*option.in_make, *option.names)]
        nearest = _nearest(word, known) or _nearest(word.upper(), known)
        raise WrongUse(f"{command} {name} does not take {word}.{nearest} See: kata {name} --help")
    options.verb, options.run = name, verb.run
    return options


def _without_names(words: Sequence[str], verb: Verb) -> tuple[list[str], set[str], list[str]]:
    """The words with --name value for each NAME=value.

    Also which words without a name were given by one, as EX=03 is, and the names that the verb does not take.
    """
    by_name = {name: option for option in verb.options for name in option.in_make}
    with_value = {name for option in verb.options if not option.is_flag for name in option.names}
    plain, several, unknown, given = list[str](), list[str](), list[str](), set[str]()
    for before, word in zip(("", *words), words, strict=False):
        found = NAMED.fullmatch(word)
        name, value = found.groups() if found and before not in with_value else ("", "")
        option = by_name.get(name)
        if option is None:
            # a=b.py may be a file, ex=03 is a name that is mistyped
            is_mistyped = name and (name.isupper() or name.upper() in by_name)
            (unknown if is_mistyped else plain).append(name if is_mistyped else word)
            continue
        given |= {option.names[0]} if option.is_word else set()
        long = f"--{option.names[0].lstrip('-')}"
        if option.is_flag:
            if value.lower() not in (*YES, *NO):
                raise WrongUse(f"{name} is 1 or 0, not {value}.")
            plain += [long] * (value.lower() in YES)
        elif option.settings.get("nargs") in ("*", "+"):  # last, since they take all words behind them
            several += [long, *(file for part in shlex.split(value) for file in sorted(glob.glob(part)) or [part])]
        else:
            plain.append(f"{long}={value}")
    return plain + several, given, unknown


def _parser(name: str, verb: Verb, given: set[str]) -> _Parser:
    """The parser of one verb. given: its words without a name that were given by one: they are options here."""
    epilog = f"make {name} takes the same as NAME=value." if verb.options else None
    parser = _Parser(prog=f"kata {name}", description=verb.summary, epilog=epilog)
    for option in verb.options:
        names = tuple(f"--{word}" if word in given else word for word in option.names)
        parser.add_argument(*names, **option.settings)
    return parser


def _demand_folder(name: str, verb: Verb) -> None:
    """Raise WrongUse for a verb of an installed kata that has nothing to work on where it was typed."""
    if verb.run.__module__ != "grader.cli.learn":
        raise WrongUse(f"kata {name} works in a clone of the project. Type: git clone {project.address()}")
    if name not in ("init", "doctor") and paths.LEARNERS is None:
        raise WrongUse("This is no folder of exercises. Go to yours first, or make one: kata init my-attention")


def _nearest(word: str, known: Iterable[str]) -> str:
    """A question for the nearest known word, or ""."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.75)
    return f" Did you mean {close[0]}?" if close else ""
