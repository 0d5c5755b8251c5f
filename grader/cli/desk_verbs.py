"""Verbs of the learner's desk: hints, examples, pictures, progress, and the state of the checkout."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import math
import os
import secrets
import shlex
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader import catalog
from grader.catalog import errors, paths, project
from grader.catalog.errors import BadSubmission, NoSuchFile, NothingLeft, WrongUse
from grader.cli.options import EXERCISE, NEXT, SUBMISSION, TABLE_FORMAT, exercise_or_next, option, positive, verb
from grader.desk import ending, progress
from grader.records import submission
from grader.records.results import ExerciseResult, Settings, unreadable
from grader.sandbox.forkserver import ForkServer

if TYPE_CHECKING:
    from grader.catalog.cards import Card
    from grader.desk.experiment import Experiment
    from grader.desk.hints import Answer, Hint
    from grader.judge.pictures import Picture

NEWER = "pipx upgrade attention-kata, or uv tool upgrade attention-kata"
PROMPT, TOKENS, TEMPERATURE = "Once upon a time", 200, 0.7  # of `make write`
FOLDER_NAME = "my-attention"


def temperature(text: str) -> float:
    """The value of `--temperature`. Raises ArgumentTypeError where it is out of range."""
    value = float(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is out of range: 0 or more")
    return value


@verb(
    "init",
    option("folder", metavar="FOLDER", nargs="?", type=Path, default=Path(FOLDER_NAME), help=f"default: {FOLDER_NAME}"),
)
def init(options: argparse.Namespace) -> int:
    """Make a folder of your own with every lesson and stub. The grader and the solutions stay outside of it."""
    if paths.LEARNERS is not None:
        raise WrongUse("You are in a folder of exercises already. To see what is next, type: make")
    if not paths.IS_INSTALLED and paths.ROOT in Path(options.folder).resolve().parents:
        raise WrongUse(
            f"{options.folder} would be a folder within this clone, which has the exercises already: type make. "
            "Elsewhere: kata init ~/my-attention"
        )
    from grader.integrations import bundle

    has_git = bundle.make_folder(options.folder)
    print(f"{options.folder} is yours: lessons, stubs, hints and figures{', and git has begun' if has_git else ''}.")
    if not has_git:
        print("git is not here. It is needed for make update alone, which merges newer exercises into the folder.")
    print(f"Now type:\n  cd {paths.typed(options.folder)}\n  make start")
    return errors.PASSED


@verb(
    "hint",
    NEXT,
    option("--task", type=int, metavar="N", help="for this task; default: the first that is not done"),
    option("--all", action="store_true", help="every hint at once"),
)
def hint(options: argparse.Namespace) -> int:
    """Give the next hint of an exercise, one more each time."""
    exercise = exercise_or_next(options.exercise)
    from grader.desk import hints

    folder, number = exercise.folder, exercise.folder[:2]
    every = hints.all_hints(folder) if options.task is None else hints.of_task(folder, options.task)
    if not every:
        raise WrongUse(f"There are no hints in {paths.shown(paths.hints(folder))}.")
    if options.all:
        show_hints(exercise, every, "")
        return errors.PASSED
    answer = hints.ask(exercise.folder, options.task)
    if answer.task is None:
        raise NothingLeft(
            f"Every task of {number} is done: no hint is needed. All of them: make hint EX={number} ALL=1"
        )
    if answer.hint is None:
        is_last = all(hint.task <= answer.task for hint in hints.all_hints(exercise.folder))
        raise NothingLeft(_used_up(answer, number, is_last))
    show_hints(exercise, (answer.hint,), _left(answer, number, named=options.task is not None), _past(answer.done))
    return errors.PASSED


def _used_up(answer: Answer, number: str, is_last: bool) -> str:
    """The sentence that there is no more hint for a task, and what to type. is_last: no other task comes after it."""
    again = f"You have seen every hint for task {answer.task}. Again: make hint EX={number} TASK={answer.task} ALL=1\n"
    if is_last:
        return f"{again}It is the last task. Another task's hints: TASK=…"
    return f"{again}Those of the next task come once this one is done: make check EX={number}. Any task's: TASK=…"


def _left(answer: Answer, number: str, named: bool) -> str:
    """How many hints are left, and how to get them. named: whether the task was."""
    task = f" TASK={answer.task}" if named else ""
    if not answer.left_of_task:
        return f"That was the last one for this task. All again: make hint EX={number} TASK={answer.task} ALL=1"
    more = f"{answer.left_of_task} more for this task, {answer.left} in all"
    return f"{more}. The next one: make hint EX={number}{task}"


def _past(done_tasks: tuple[int, ...]) -> str:
    """Why it is this task: those before it are done."""
    if not done_tasks:
        return ""
    if len(done_tasks) == 1:
        return f"task {done_tasks[0]} is done"
    return f"tasks {done_tasks[0]} {'and' if len(done_tasks) == 2 else 'to'} {done_tasks[-1]} are done"


def show_hints(exercise: catalog.Exercise, shown_hints: tuple[Hint, ...], closing: str, reason: str = "") -> None:
    """Print hints, wrapped to the terminal. reason: it is this task."""
    from rich.padding import Padding
    from rich.text import Text

    from grader.desk import formulas
    from grader.reports import terminal

    console, task = terminal.console(), None
    console.print(Text(f"{exercise.folder[:2]} {exercise.title}", "bold"))
    for hint in shown_hints:
        if hint.task != task:
            task = hint.task
            console.print(Text.assemble(f"Task {task}", (f"  {reason}" if reason else "", "dim")))
        console.print(Padding(Text.assemble((f"{hint.place}  ", "yellow"), formulas.as_text(hint.text)), (0, 0, 0, 2)))
    if closing:
        console.print(Text(closing, "dim"))


@verb(
    "try",
    NEXT,
    option("--args", metavar="LINE", help="this line instead, with the lesson's tensors at hand"),
    SUBMISSION,
)
def try_examples(options: argparse.Namespace) -> int:
    """Run the lesson's example calls on your file, or a line of your own."""
    exercise = exercise_or_next(options.exercise)
    from grader.desk import lesson

    of_lesson = lesson.examples(exercise.folder)
    if not of_lesson:
        raise WrongUse(f"There are no calls in {paths.shown(paths.lesson(exercise.folder))}.")
    with ForkServer() as fork_server:  # it imports torch while this process does
        from grader.desk import tryout
        from grader.reports import terminal

        console = terminal.console()
        own_examples = tryout.of_line(options.args) if options.args else ()
        try:
            submitted = submission.read(options.submission or paths.stub(exercise.folder))
        except BadSubmission as error:
            raise WrongUse(str(error)) from None
        outcomes = [*tryout.run(exercise, submitted, (*of_lesson, *own_examples), fork_server)]
    if own_examples:
        outcomes = [outcome for outcome in outcomes if outcome.example.task == tryout.OWN]
    for part in tryout.page(exercise, outcomes, console.width):
        console.print(part, crop=False)
    return errors.PASSED


@verb("plot", NEXT, SUBMISSION, option("--output", metavar="FILE", type=Path, help="write a .png, .svg or .pdf file"))
def plot(options: argparse.Namespace) -> int:
    """Pictures of one exercise: your attention weights beside the expected ones, for the documented sentence."""
    exercise = exercise_or_next(options.exercise)
    if not paths.pictures(exercise.folder).exists():
        raise WrongUse(f"{exercise.folder} has no picture. Others have: make plot EX=03")
    path = options.submission or paths.stub(exercise.folder)
    with ForkServer() as fork_server:  # it imports torch while this process does
        from grader.judge import capture

        try:
            pictures = capture.capture_pictures(exercise, submission.read(path), fork_server)
        except BadSubmission as error:
            pictures = capture.blank(exercise, str(error))
    if options.output is not None:
        from grader.reports import heatmap

        heatmap.save(pictures, options.output)
        print(f"{options.output} holds {len(pictures)} picture{'' if len(pictures) == 1 else 's'}.")
    else:
        show_pictures(exercise, pictures)
    return errors.PASSED


@verb("figure", NEXT, SUBMISSION)
def figure(options: argparse.Namespace) -> int:
    """Write the lesson as a page with its figure and your own numbers, and open it. Each check writes it again."""
    exercise = exercise_or_next(options.exercise)
    path = options.submission or paths.stub(exercise.folder)
    with ForkServer() as fork_server:  # it imports torch while this process does
        from grader.desk import lesson
        from grader.integrations import lesson_page

        handed_in = submission.attempt(partial(submission.read, path), paths.shown(path))
        page = lesson_page.write_own(exercise, handed_in, fork_server)
    print(f"Open {paths.shown(page)} in a browser. Each make check EX={exercise.folder[:2]} writes it again.")
    lesson.open_in_browser(page.as_uri())
    return errors.PASSED


def show_pictures(exercise: catalog.Exercise, pictures: Sequence[Picture]) -> None:
    """Print the pictures in the terminal's width; a pipe gets eighty columns."""
    from rich.text import Text

    from grader.reports import terminal
    from grader.reports.heatmap import WIDTH, all_lines

    console = terminal.console()
    console.print(Text(f"{exercise.folder[:2]} {exercise.title}", "bold"))
    for line in all_lines(pictures, console.width if console.is_terminal else WIDTH):
        console.print(line, soft_wrap=True)


@verb(
    "experiment",
    NEXT,
    option("--format", choices=("text", "json", "md"), default="text", help="md: the table of a lesson"),
    option("--args", metavar="'NAME …'", help="run measure_NAME.py beside the lesson instead, with what follows"),
)
def experiment(options: argparse.Namespace) -> int:
    """Run the experiment of a lesson: its question, a table with bars, and whether its claim holds.

    Returns the exit code: 1 where the claim does not hold.
    """
    exercise = exercise_or_next(options.exercise)
    from grader.desk import experiment

    if options.args:
        return errors.PASSED if experiment.measure(exercise, shlex.split(options.args)) == 0 else errors.FAILED
    measured = experiment.run(exercise)
    if options.format == "json":
        print(json.dumps({"schema": 1, "exercise": exercise.folder, **asdict(measured)}, indent=2))
    elif options.format == "md":
        print(experiment.markdown(measured), end="")
    else:
        show_experiment(exercise, measured)
    return errors.PASSED if measured.holds else errors.FAILED


def show_experiment(exercise: catalog.Exercise, measured: Experiment) -> None:
    """Print an experiment, no line wider than its table may be."""
    from rich.text import Text

    from grader.desk import experiment
    from grader.reports import terminal

    console, script = terminal.console(), paths.experiment(exercise.folder)
    console.width = min(console.width, experiment.WIDTH) if console.is_terminal else experiment.WIDTH
    console.print(Text(f"{exercise.folder[:2]} {exercise.title} · experiment", "bold"))
    console.print(Text(measured.question), "", sep="\n")
    for line in experiment.lines(measured):
        console.print(Text(line), soft_wrap=True)
    console.print("", Text(measured.claim), sep="\n")
    console.print(Text(experiment.verdict(measured), "green" if measured.holds else "bold red"))
    console.print(Text(f"Its script, for numbers of your own: {paths.shown(script)}", "dim"), soft_wrap=True)


@verb(
    "train",
    option("exercise", nargs="?", metavar="EX", help="a number (23), a slug or a folder name"),
    option("--steps", type=positive, metavar="N", help="default: as many as the lesson's model was trained"),
    option(
        "--layers", type=positive, metavar="N", help="of the model, where the lesson trains a single one; default: 2"
    ),
    option("--seed", type=int, default=0, help="of the first numbers and of the tokens; default: 0"),
    option("--submission", metavar="FILE", type=Path, help="a .py file or an .ipynb notebook with a model"),
    option("--output", metavar="FILE", type=Path, help="write the trained numbers there, as a state dict"),
    option("--force", action="store_true", help="train the reference, also before you have passed"),
)
def train(options: argparse.Namespace) -> int:
    """Train the model that you wrote in an earlier exercise, and look on. It takes no part in grading."""
    exercise = with_training(options.exercise)
    if options.output is not None and exercise.trains == exercise.folder[:2]:
        raise WrongUse(f"{exercise.folder} compares models that are not kept, so there is nothing for OUTPUT.")
    written, number = catalog.find(exercise.trains), exercise.trains
    why = f"The model is that of {number}, which you have not passed yet: make check EX={number}"
    anyway = f"To train the reference all the same: make train EX={exercise.folder[:2]} FORCE=1"
    path = options.submission or _own_file(written, options.force, why, anyway)
    read = submission.read(path)
    with ForkServer() as fork_server:  # it imports torch while this process does
        from grader.desk import training

        course = training.Course(options.layers, options.steps, options.seed)
        state = training.train(exercise, read, fork_server, course)
        own = paths.own_model(exercise.folder) if path == paths.stub(written.folder) else None
        if output := options.output or own:
            training.save(state, output)
            print(f"{paths.shown(output)} holds the trained numbers.")
    return errors.PASSED


def with_training(name: str | None) -> catalog.Exercise:
    """The exercise of this name, or the first that trains a model. Raises WrongUse where it trains none."""
    trained = [exercise for exercise in catalog.exercises() if exercise.trains]
    if name is None and trained:
        return trained[0]
    exercise = catalog.find(name or "")
    if not exercise.trains:
        commands = ", ".join(f"make train EX={other_exercise.folder[:2]}" for other_exercise in trained)
        raise WrongUse(f"{exercise.folder} trains no model. These do: {commands}.")
    return exercise


@verb("review", option("exercise", nargs="?", metavar="EX", help="this exercise at once; default: what is due"))
def review(options: argparse.Namespace) -> int:
    """Ask three questions on exercises that you have passed, some days later. They give no points.

    Raises WrongUse where the exercise that was named is not passed, or has no questions.
    """
    from grader.desk import review
    from grader.reports import terminal

    scheduled, console = review.schedule(), terminal.console()
    chosen = _cards_of(catalog.find(options.exercise)) if options.exercise else review.due(scheduled)[: review.AT_ONCE]
    if not chosen:
        first = "The first questions come the day after you pass an exercise: make check"
        print(f"Nothing is due. {review.outlook(scheduled)}" if scheduled else first)
        if scheduled:
            print(f"One exercise at once: make review EX={scheduled[0].card.exercise[:2]}")
    elif not (sys.stdin.isatty() and console.is_terminal):
        for card in chosen:
            review.show(console, card)
        number = f" EX={options.exercise}" if options.exercise else ""
        print(f"To answer, and to see the answers, type at a terminal: make review{number}")
    else:
        is_judged = any(card.function for card in chosen)
        with ForkServer() if is_judged else contextlib.nullcontext() as fork_server:  # it imports torch meanwhile
            review.ask(console, chosen, fork_server)
    return errors.PASSED


def _cards_of(exercise: catalog.Exercise) -> list[Card]:
    """The cards of an exercise that was passed. Raises WrongUse where it was not, or has none."""
    from grader.desk import review

    if not progress.state(exercise.folder).done:
        number = exercise.folder[:2]
        raise WrongUse(f"You have not passed {number} yet, so there is nothing to review: make check EX={number}")
    chosen = [entry.card for entry in review.schedule(exercise.folder)]
    if not chosen:
        raise WrongUse(f"There are no questions in {paths.shown(paths.review(exercise.folder))}.")
    return chosen


@verb("reset", EXERCISE)
def reset(options: argparse.Namespace) -> int:
    """Put the fresh stub of an exercise back; your file is kept beside it."""
    exercise = catalog.find(options.exercise)
    from grader.desk import checkout

    copy = checkout.reset(exercise.folder)
    print(f"{paths.shown(paths.stub(exercise.folder))} is the fresh stub.")
    if copy is not None:
        print(f"Your file is kept: {paths.shown(copy)}")
    return errors.PASSED


@verb("solution", EXERCISE, option("--force", action="store_true", help="also before the exercise is passed"))
def solution(options: argparse.Namespace) -> int:
    """Show the reference beside your own, once the exercise is passed."""
    exercise = catalog.find(options.exercise)
    is_passed = progress.state(exercise.folder).done
    if not is_passed and not options.force:
        number = exercise.folder[:2]
        raise WrongUse(
            f"You have not passed {number} yet. A hint: make hint EX={number}\n"
            f"To see the solution all the same: make solution EX={number} FORCE=1"
        )
    from grader.desk import side_by_side
    from grader.reports import terminal

    console = terminal.console()
    console.print(side_by_side.of(exercise.folder, console.width), soft_wrap=not console.is_terminal)
    return errors.PASSED


@verb("list", TABLE_FORMAT)
def list_exercises(options: argparse.Namespace) -> int:
    """List all exercises with state and points."""
    return _print_overview(options.format, progress.listed)


def _print_overview(form: str, text: Callable[[list[dict[str, Any]]], str]) -> int:
    """Print the table of exercises in one of the formats. text: makes its form "text". Returns the exit code."""
    render = {"text": text, "json": progress.as_json, "md": progress.markdown}[form]
    print(render(progress.rows()), end="")
    if form == "text":
        print("\n".join(ending.closing_lines()))
    return errors.PASSED


@verb("welcome")
def say_hello(options: argparse.Namespace) -> int:
    """Say hello, what is next, and what is due: what make alone does."""
    from grader.reports import terminal

    ending.welcome(terminal.console())
    return errors.PASSED


@verb("progress", TABLE_FORMAT)
def show_progress(options: argparse.Namespace) -> int:
    """Show your progress: every exercise with state, points, tries and the day it was first passed."""
    return _print_overview(options.format, progress.text)


@verb(
    "portfolio",
    option("--output", metavar="FILE", type=Path, default=Path("portfolio.html"), help="default: portfolio.html"),
)
def write_portfolio(options: argparse.Namespace) -> int:
    """Write a page worth keeping of what you have built, with measurements of your own code, and a Markdown section.

    Raises WrongUse where nothing is passed yet or a file cannot be written.
    """
    target = options.output
    if not target.parent.is_dir():  # said before anything is measured
        raise WrongUse(f"{target} cannot be written: {target.parent} is no folder")
    with ForkServer() as fork_server:  # it imports torch while this process does
        from grader.desk import portfolio

        made = portfolio.collect(fork_server, lambda text: print(text, file=sys.stderr, flush=True))
    section = target.with_suffix(".md")
    try:
        target.write_text(portfolio.page(made), "utf-8")
        section.write_text(portfolio.markdown(made, target.name), "utf-8")
    except OSError as error:
        raise WrongUse(f"{target} cannot be written: {error.strerror}") from None
    print(f"{target} is your page: open it in a browser. {section} is a section for a README or a CV.")
    return errors.PASSED


@verb("report", option("--output", metavar="FILE", type=Path, default=Path("report.html"), help="default: report.html"))
def write_report(options: argparse.Namespace) -> int:
    """Write one HTML page of all your exercises: state, last verdicts, pictures, hints left, lessons.

    Raises WrongUse where the page cannot be written.
    """
    if not options.output.parent.is_dir():  # said before anything is graded
        raise WrongUse(f"{options.output} cannot be written: {options.output.parent} is no folder")
    with ForkServer() as fork_server:  # it imports torch while this process does
        from grader.reports import html

        verdicts = [_verdict_and_pictures(exercise, fork_server) for exercise in catalog.exercises()]
        rows = progress.rows()  # after the gradings, which change it
        entries = [
            html.Entry(
                row, result, pictures, *_hint_counts(row["exercise"]), _lesson_address(row["exercise"], options.output)
            )
            for row, (result, pictures) in zip(rows, verdicts, strict=True)
        ]
    page = html.report_page(entries, progress.by_path(rows), time.time(), ending.closing_lines())
    try:
        options.output.write_text(page, "utf-8")
    except OSError as error:
        raise WrongUse(f"{options.output} cannot be written: {error.strerror}") from None
    print(f"{options.output} is written. Open it in a browser; it needs no network.")
    return errors.PASSED


def _verdict_and_pictures(
    exercise: catalog.Exercise, fork_server: ForkServer
) -> tuple[ExerciseResult | None, tuple[Picture, ...]]:
    """The verdict on the learner's file, which is graded only if it has changed, and its pictures."""
    from grader.judge import capture, grading  # heavy: torch

    path = paths.stub(exercise.folder)
    result = progress.last(exercise.folder)
    try:
        submitted = submission.read(path)
        if result is None or path.stat().st_mtime > paths.last_result(exercise.folder).stat().st_mtime:
            print(f"grading {exercise.folder} …", file=sys.stderr, flush=True)
            settings = Settings(seed=secrets.randbelow(1_000_000))
            result = grading.result(exercise, submitted, fork_server, settings)
            progress.note(result, attempt=False)
        if not result.started:
            return progress.last(exercise.folder, progress.NOTEBOOK) or result, ()
        return result, tuple(capture.capture_pictures(exercise, submitted, fork_server))
    except BadSubmission as error:
        settings = Settings()
        return unreadable(exercise, paths.shown(path), str(error), settings), ()
    except (NoSuchFile, FileNotFoundError):
        return None, ()


def _hint_counts(folder: str) -> tuple[int, int]:
    """The number of hints, and of those that are left."""
    from grader.desk import hints

    return len(hints.all_hints(folder)), hints.left(folder)


def _lesson_address(folder: str, output: Path) -> str:
    """The relative address of the lesson: in the site where `make docs` built it, else a page beside the report.

    Raises WrongUse where that cannot be written.
    """
    target = paths.site_page(folder)
    if not target.exists():
        from grader.integrations import lesson_page

        target = output.with_name(f"{output.stem}-lessons") / f"{folder}.html"
        try:
            lesson_page.write_page(target, lesson_page.plain_page(folder))
        except OSError as error:
            raise WrongUse(f"{target} cannot be written: {error.strerror}") from None
    relative = os.path.relpath(target, output.resolve().parent)
    return urllib.parse.quote(Path(relative).as_posix())


@verb("update")
def update(options: argparse.Namespace) -> int:
    """Get the newest exercises and grader; what you have written stays."""
    from grader.desk import checkout

    if paths.LEARNERS is None:
        done = checkout.update()
    else:
        from grader.integrations import bundle

        done = checkout.update(bundle.files_of_folder(), project.version())
    if not done.changes:
        newer = f" Newer exercises come with a newer kata: {NEWER}" if paths.LEARNERS else ""
        print(f"There is nothing new.{newer}")
        return errors.PASSED
    print(f"Up to date: {done.changes} {'file' if done.changes == 1 else 'files'} changed.")
    for file in done.merged:
        how = "is as you left it" if file.is_kept else "has the new parts around your code"
        print(f"{paths.shown(file.path)} {how}. As it was before: {paths.shown(file.copy)}")
    return errors.PASSED


@verb("doctor")
def doctor(options: argparse.Namespace) -> int:
    """Look at this machine: sandbox, torch, device and what else a user needs, and how to fix it."""
    from grader.desk import doctor

    findings = doctor.findings()
    print(doctor.text(findings))
    return errors.PASSED


@verb("notebook", NEXT, option("--no-open", action="store_true", help="only make it"))
def notebook(options: argparse.Namespace) -> int:
    """Make the notebook of one exercise from its lesson and stub, and open it in JupyterLab where there is one."""
    from grader.integrations.notebook import export

    exercise = exercise_or_next(options.exercise)
    path, outcome = export.make(exercise)
    name = paths.shown(path)
    print(f"{name} is made." if outcome == export.MADE else f"{name} is yours: it was left as it is.")
    if options.no_open:
        return errors.PASSED
    if importlib.util.find_spec("jupyterlab") is None:
        print(errors.missing_extra("Opening it needs JupyterLab", "notebook"))
        print("Or open the notebook in another program, such as VS Code, with this Python as its kernel.")
        return errors.PASSED
    command = [sys.executable, "-m", "jupyterlab", str(path)]
    if not sys.stdout.isatty():
        print(f"Open it: {' '.join(command)}")
        return errors.PASSED
    # The kernel finds the grader also where it is not installed.
    roots = [str(paths.ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.call(command, cwd=paths.ROOT, env={**os.environ, "PYTHONPATH": os.pathsep.join(roots)})


@verb("docs", option("--output", metavar="FOLDER", type=Path, default=paths.SITE, help="default: site"))
def docs(options: argparse.Namespace) -> int:
    """Build the lessons as a site of static pages, to be read in a browser without a network."""
    from grader.integrations.site import hook

    count = hook.build(options.output)
    folder = paths.shown(options.output)
    print(f"{folder} holds {count} pages. Open {folder}/index.html in a browser; it needs no network.")
    return errors.PASSED


@verb(
    "write",
    option("--prompt", metavar="TEXT", default=PROMPT, help=f"how it begins; default: “{PROMPT}”"),
    option("--model", metavar="DIR", type=Path, help="a folder with config.json, *.safetensors, tokenizer.json"),
    option("--tokens", metavar="N", type=positive, default=TOKENS, help=f"at most; default: {TOKENS}"),
    option("--temperature", type=temperature, default=TEMPERATURE, help=f"0: no chance; default: {TEMPERATURE}"),
    option("--seed", type=int, default=0, help="another one writes another text; default: 0"),
    option("--submission", metavar="FILE", type=Path, help="a .py file or an .ipynb notebook with the model"),
    option("--force", action="store_true", help="let the reference write, also before you have passed"),
)
def write(options: argparse.Namespace) -> int:
    """Let the model that you wrote continue a text, without and with its caches. It takes no part in grading."""
    exercise = next((one for one in catalog.exercises() if one.writes), None)
    if exercise is None:
        raise WrongUse("No exercise here has a model that writes.")
    why = f"The model that writes is your own, and it is not finished yet: make check EX={exercise.folder[:2]}"
    anyway = "To let the reference write all the same: make write FORCE=1"
    path = options.submission or _own_file(exercise, options.force, why, anyway)
    read = submission.read(path)
    from grader.desk import writing  # it imports torch, which takes a second

    folder = options.model or paths.handed_out(exercise.folder)
    wish = writing.Wish(options.prompt, options.tokens, options.temperature, options.seed)
    writing.write(exercise, read, folder, wish)
    return errors.PASSED


def _own_file(exercise: catalog.Exercise, force: bool, why: str, anyway: str) -> Path:
    """The learner's file, once passed; before that the reference, with `force`. Raises WrongUse without either.

    why, anyway: what a learner reads without `force`: why not, and what to type for the reference.
    """
    if progress.state(exercise.folder).done:
        return paths.stub(exercise.folder)
    reference = paths.solution(exercise.folder)
    if not reference.exists():
        raise WrongUse(why)
    if not force:
        raise WrongUse(f"{why}\n{anyway}")
    return reference
