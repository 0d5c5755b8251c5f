"""Verbs of a learner: they grade, help and show what was written in one exercise, and look after the folder."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import os
import secrets
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path

from grader import catalog
from grader.catalog import errors, paths, project
from grader.catalog.errors import WrongUse
from grader.cli.options import EXERCISE, NEXT, SUBMISSION, Option, choose, positive, seconds, verb
from grader.desk import ending, progress
from grader.records import limited, submission
from grader.records.results import NOT_GRADED, CheckResult, ExerciseResult, Settings
from grader.records.submission import Submission
from grader.sandbox.forkserver import DEVICES, ForkServer, demand_device, pick_device

NEWER = "pipx upgrade attention-kata, or uv tool upgrade attention-kata"
PROMPT = "Once upon a time"  # of `make write`
FOLDER_NAME = "my-attention"
# What the commands of a warm process import when they run; see grader/warm/client.py for which these are.
MODULES = (
    "grader.desk.ending", "grader.desk.hints", "grader.desk.lesson", "grader.desk.tryout", "grader.judge.capture",
    "grader.judge.grading", "grader.judge.where.search", "grader.reports.ci",
    "grader.reports.heatmap", "grader.reports.json", "grader.reports.terminal",
    "encodings.utf_8_sig", "torch._subclasses.schema_check_mode",
)  # fmt: skip


def load() -> None:
    """Import what commands need."""
    for name in MODULES:
        importlib.import_module(name)


@verb("welcome")
def welcome(options: argparse.Namespace) -> None:
    """Say hello, what is next, and what is due."""
    from grader.reports import terminal

    ending.welcome(terminal.console())


@verb("start", NEXT)
def start(options: argparse.Namespace) -> int:
    """Open the watch at your next exercise: it grades on every save."""
    exercise = choose(options.exercise)
    from grader.desk import watch

    return watch.run(exercise)


@verb(
    "check",
    NEXT,
    SUBMISSION,
    Option("--device", choices=DEVICES, default="cpu", help="default: cpu"),
    Option("--seed", type=int, help="of the fresh inputs; default: a new one each time"),
    Option("--timeout", type=seconds, metavar="S", help="seconds for one call"),
    Option("--format", choices=("text", "json", "junit", "github", "classroom"), default="text"),
    Option("--all", action="store_true", help="show every failed check in full"),
    Option("--where", choices=("0", "1"), default="1", help="0: do not look for the line of a mistake"),
)
def check(options: argparse.Namespace) -> int:
    """Grade one exercise: your own file, or another one."""
    device = pick_device(options.device)
    if options.exercise is None and options.submission is not None:
        raise WrongUse("--submission needs an exercise: make check EX=03 SUBMISSION=FILE")
    exercise = choose(options.exercise)
    path = options.submission or paths.stub(exercise.folder)
    is_own_file = options.submission is None
    with contextlib.ExitStack() as stack:
        fork_server = stack.enter_context(ForkServer(device))  # it imports torch while this process does
        fork_server.keep(exercise.limits.needs, exercise.forbidden)
        limited.helper.start()  # so does the process that reads the file
        from grader.reports import ci, deliver, terminal

        words = f"Grading {exercise.folder[:2]} {exercise.title} …"
        status = terminal.console().status(f"[dim]{words}")  # a pipe shows none of it
        if options.format == "text":
            stack.enter_context(status)
        from grader.judge import grading  # heavy: torch
        from grader.records import containment

        demand_device(device)
        seed = options.seed if options.seed is not None else secrets.randbelow(1_000_000)
        settings = Settings(device=device, seed=seed, timeout=options.timeout, where=options.where == "1")
        handed_in = submission.attempt(partial(submission.read, path), paths.shown(path))
        for number, event in enumerate(grading.grade(exercise, handed_in, fork_server, settings), 1):
            if isinstance(event, CheckResult):
                status.update(f"[dim]{words} {number} of {len(exercise.points)}")
                continue
            result = event
            status.update("[dim]Looking for the cause …")
        closing = []
        if hidden := exercise.hidden_points:  # in a learner's bundle
            every = f"{exercise.max_points:g} of {exercise.max_points + hidden:g} points"
            closing.append(f"These are {every}. Hidden checks follow when you hand in.")
        if is_own_file:
            is_graded = result.status != NOT_GRADED
            is_kept = not is_graded or containment.optional("your progress", True, progress.note, result)
            closing += [next_step(result, options.all), "" if is_kept else progress.NOT_KEPT]
            if is_kept and paths.own_page(exercise.folder).exists():
                from grader.integrations import lesson_page

                containment.optional("the figure", None, lesson_page.write_own, exercise, handed_in, fork_server)
        if fork_server.tier.name == "D":
            closing.append("Your code ran without a sandbox (tier D). What would give one: make doctor")
    if options.format == "text":
        terminal.show(result, terminal.console(), options.all, "\n".join(filter(None, closing)))
        return errors.of_verdicts({result.status})
    report = containment.optional(f"the report as {options.format}", "", render, result, options.format)
    deliver(report or terminal.plain(result))
    if options.format == "github" and (summary := os.environ.get("GITHUB_STEP_SUMMARY")):
        with contextlib.suppress(OSError), open(summary, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(ci.summary(result))  # where it cannot be written, the verdict counts as before
    return errors.of_verdicts({result.status}) if report else errors.NOT_DONE


def render(result: ExerciseResult, form: str) -> str:
    """The result in the requested format."""
    from grader.desk import hints
    from grader.reports import ci
    from grader.reports import json as as_json

    if form == "json":  # with the next hint, which does not count as asked for
        hint = hints.free(result) if result.status != NOT_GRADED else None
        return as_json.render(result, {"next_hint": hint and {"task": hint.task, "text": hint.text}})
    return {"github": ci.annotations, "classroom": ci.as_classroom, "junit": ci.as_junit}[form](result)


def next_step(result: ExerciseResult, every: bool = False) -> str:
    """The command that a learner would type next."""
    exercise = result.exercise[:2]
    if result.status == NOT_GRADED:
        return ""
    if not result.started:
        lesson, notebook = paths.shown(paths.lesson(result.exercise)), paths.notebook(result.exercise)
        if notebook.exists():
            return f"If you work in the notebook: make check EX={exercise} SUBMISSION={paths.typed(notebook)}"
        return f"Begin with the lesson: {lesson}\nThen leave this open beside your editor: make start EX={exercise}"
    if result.status != "passed":
        hint = f"A hint: make hint EX={exercise}"
        if every:
            return f"{hint}     The same inputs: make check EX={exercise} SEED={result.seed} ALL=1"
        return f"{hint}     All {len(result.checks)} checks: make check EX={exercise} ALL=1"
    reference = f"The reference beside yours: make solution EX={exercise}"
    return "\n".join(filter(None, [*ending.lines(result.exercise), ending.next_step(result.exercise), reference]))


@verb("try", NEXT, SUBMISSION)
def try_examples(options: argparse.Namespace) -> None:
    """Run the lesson's calls on your file, beside the lesson's values."""
    exercise = choose(options.exercise)
    from grader.desk import lesson

    of_lesson = lesson.examples(exercise.folder)
    if not of_lesson:
        raise WrongUse(f"There are no calls in {paths.shown(paths.lesson(exercise.folder))}.")
    with ForkServer() as fork_server:  # it imports torch while this process does
        from grader.desk import tryout
        from grader.reports import terminal

        submitted = submission.read(options.submission or paths.stub(exercise.folder))
        outcomes = [*tryout.run(exercise, submitted, of_lesson, fork_server)]
    console = terminal.console()
    for part in tryout.page(exercise, outcomes):
        console.print(part, crop=False)


@verb(
    "hint",
    NEXT,
    Option("--task", type=int, metavar="N", help="for this task; default: the first that is not done"),
    Option("--all", action="store_true", help="every hint at once"),
)
def hint(options: argparse.Namespace) -> None:
    """Give the next hint, one more each time."""
    from grader.desk import hints
    from grader.reports import terminal

    terminal.console().print(*hints.page(choose(options.exercise), options.task, options.all), sep="\n")


@verb("solution", EXERCISE, Option("--force", action="store_true", help="also before the exercise is passed"))
def solution(options: argparse.Namespace) -> None:
    """Show the reference beside your own, once you have passed."""
    exercise = catalog.find(options.exercise)
    if not progress.state(exercise.folder).done and not options.force:
        number = exercise.folder[:2]
        raise WrongUse(
            f"You have not passed {number} yet. A hint: make hint EX={number}\n"
            f"To see the solution all the same: make solution EX={number} FORCE=1"
        )
    from grader.desk import solution
    from grader.reports import terminal

    console = terminal.console()
    console.print(solution.page(exercise.folder, console.width), soft_wrap=not console.is_terminal)


@verb("progress")
def show_progress(options: argparse.Namespace) -> None:
    """Show every exercise with its state, points, tries and first pass."""
    print(progress.text() + "\n".join(ending.closing_lines()))


@verb(
    "train",
    Option("exercise", nargs="?", metavar="EX", help="one of those that train a model"),
    Option("--layers", type=positive, metavar="N", help="of the model, where the lesson trains one; default: 2"),
    SUBMISSION,
    Option("--output", metavar="FILE", type=Path, help="write the trained numbers there, as a state dict"),
)
def train(options: argparse.Namespace) -> None:
    """Train what you wrote, and look on; not graded."""
    exercise = catalog.find(options.exercise) if options.exercise else None
    if exercise is None or not exercise.trains:
        others = ", ".join(f"make train EX={one.folder[:2]}" for one in catalog.exercises() if one.trains)
        why = f"{exercise.folder} trains no model" if exercise else "EX= says which model"
        raise WrongUse(f"{why}. You can train one with {others}.")
    if options.output is not None and exercise.trains == exercise.folder[:2]:
        raise WrongUse(f"{exercise.folder} compares models that are not kept, so there is nothing for OUTPUT.")
    why = f"The model is that of {exercise.trains}, which you have not passed yet: make check EX={exercise.trains}"
    path, read = _own(catalog.find(exercise.trains), options, why, f"make train EX={exercise.folder[:2]}")
    print(f"{exercise.folder[:2]} {exercise.title}: training {paths.shown(path)}", flush=True)
    with ForkServer() as fork_server:  # it imports torch while this process does
        from grader.desk import training

        state = training.train(exercise, read, fork_server, options.layers)
        if options.output is not None:
            training.save(state, options.output)
            print(f"{paths.shown(options.output)} holds the trained numbers.")


@verb(
    "write",
    Option("--prompt", metavar="TEXT", default=PROMPT, help=f"how it begins; default: “{PROMPT}”"),
    Option("--model", metavar="DIR", type=Path, help="a folder with config.json, *.safetensors, tokenizer.json"),
    Option("--seed", type=int, default=0, help="another one writes another text; default: 0"),
    SUBMISSION,
)
def write(options: argparse.Namespace) -> None:
    """Let your own model write, with and without caches; not graded."""
    exercise = next(one for one in catalog.exercises() if one.writes)
    why = f"The model that writes is your own, and it is not finished yet: make check EX={exercise.folder[:2]}"
    _, read = _own(exercise, options, why, "make write")
    from grader.desk import writing  # it imports torch, which takes a second

    folder = options.model or paths.handed_out(exercise.folder)
    writing.write(exercise, read, folder, writing.Wish(options.prompt, seed=options.seed))


def _own(exercise: catalog.Exercise, options: argparse.Namespace, why: str, command: str) -> tuple[Path, Submission]:
    """The file that is named, else the learner's. Before it is passed, raises WrongUse: why, and what to type."""
    path = options.submission or paths.stub(exercise.folder)
    if options.submission is None and not progress.state(exercise.folder).done:
        solution = paths.solution(exercise.folder)
        anyway = f"\nWith the reference: {command} SUBMISSION={paths.typed(solution)}" if solution.exists() else ""
        raise WrongUse(why + anyway)
    return path, submission.read(path)


@verb("review")
def review(options: argparse.Namespace) -> None:
    """Answer questions on what you passed some days or weeks ago."""
    from grader.desk import review
    from grader.reports import terminal

    scheduled, console = review.schedule(), terminal.console()
    chosen = review.due(scheduled)[: review.AT_ONCE]
    if not chosen:
        first = "The first questions come the day after you pass an exercise: make check"
        print(f"Nothing is due. {review.outlook(scheduled)}" if scheduled else first)
        return
    if not (sys.stdin.isatty() and console.is_terminal):
        raise WrongUse("make review asks at a terminal, where you can answer.")
    is_judged = any(card.function for card in chosen)
    with ForkServer() if is_judged else contextlib.nullcontext() as fork_server:  # it imports torch meanwhile
        review.ask(console, chosen, fork_server)


@verb("plot", NEXT, SUBMISSION)
def plot(options: argparse.Namespace) -> None:
    """Show your attention weights beside the expected ones."""
    exercise = choose(options.exercise)
    if not paths.pictures(exercise.folder).exists():
        raise WrongUse(f"{exercise.folder} has no picture. Others have: make plot EX=03")
    path = options.submission or paths.stub(exercise.folder)
    with ForkServer() as fork_server:  # it imports torch while this process does
        from grader.judge import capture
        from grader.reports import heatmap, terminal

        pictures = capture.capture_pictures(exercise, submission.read(path), fork_server)
    console = terminal.console()
    print(f"{exercise.folder[:2]} {exercise.title}")
    for line in heatmap.all_lines(pictures, console.width if console.is_terminal else heatmap.WIDTH):
        console.print(line, soft_wrap=True)


@verb("figure", NEXT, SUBMISSION)
def figure(options: argparse.Namespace) -> None:
    """Write and open the lesson with its figure and your own numbers."""
    exercise = choose(options.exercise)
    path = options.submission or paths.stub(exercise.folder)
    with ForkServer() as fork_server:  # it imports torch while this process does
        from grader.desk import lesson
        from grader.integrations import lesson_page

        handed_in = submission.attempt(partial(submission.read, path), paths.shown(path))
        page = lesson_page.write_own(exercise, handed_in, fork_server)
    print(f"Open {paths.shown(page)} in a browser. Each make check EX={exercise.folder[:2]} writes it again.")
    lesson.open_in_browser(page.as_uri())


@verb(
    "experiment",
    NEXT,
    Option("--format", choices=("text", "md"), default="text", help="md: the table of a lesson"),
    Option("--args", metavar="'NAME …'", help="run measure_NAME.py beside the lesson instead, with what follows"),
)
def experiment(options: argparse.Namespace) -> int:
    """Measure what the lesson claims: a table, and whether it holds."""
    exercise = choose(options.exercise)
    from grader.desk import experiment

    if options.args:
        return errors.PASSED if experiment.measure(exercise, shlex.split(options.args)) == 0 else errors.FAILED
    from grader.reports import terminal

    measured = experiment.run(exercise)
    if options.format == "md":
        print(experiment.markdown(measured), end="")
    else:
        terminal.console().print(experiment.page(exercise, measured))
    return errors.PASSED if measured.holds else errors.FAILED


@verb("notebook", NEXT)
def notebook(options: argparse.Namespace) -> int:
    """Make the exercise a notebook, and open it in JupyterLab."""
    from grader.integrations.notebook import export

    exercise = choose(options.exercise)
    path, outcome = export.make(exercise)
    name = paths.shown(path)
    print(f"{name} is made." if outcome == export.MADE else f"{name} is yours: it was left as it is.")
    if importlib.util.find_spec("jupyterlab") is None:
        print(errors.missing_extra("Opening it needs JupyterLab", "notebook"))
        print("Or open the notebook in another program, such as VS Code, with this Python as its kernel.")
        return errors.PASSED
    command = [sys.executable, "-m", "jupyterlab", str(path)]
    if not sys.stdout.isatty():
        print(f"Open it: {shlex.join(command)}")
        return errors.PASSED
    # The kernel finds the grader also where it is not installed.
    roots = [str(paths.ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.call(command, cwd=paths.ROOT, env={**os.environ, "PYTHONPATH": os.pathsep.join(roots)})


@verb("reset", EXERCISE)
def reset(options: argparse.Namespace) -> None:
    """Put the fresh stub back; your file is kept beside it."""
    exercise = catalog.find(options.exercise)
    from grader.desk import checkout

    copy = checkout.reset(exercise.folder)
    print(f"{paths.shown(paths.stub(exercise.folder))} is the fresh stub.")
    if copy is not None:
        print(f"Your file is kept: {paths.shown(copy)}")


@verb("update")
def update(options: argparse.Namespace) -> None:
    """Get the newest exercises and grader; your code stays."""
    from grader.desk import checkout
    from grader.integrations import bundle

    done = checkout.update(bundle.files_of_folder(), project.version()) if paths.LEARNERS else checkout.update()
    if not done.changes:
        newer = f" Newer exercises come with a newer kata: {NEWER}" if paths.LEARNERS else ""
        print(f"There is nothing new.{newer}")
        return
    print(f"Up to date: {done.changes} {'file' if done.changes == 1 else 'files'} changed.", *done.merged, sep="\n")


@verb("doctor")
def doctor(options: argparse.Namespace) -> None:
    """Look at this machine: what is missing, and how to get it."""
    from grader.desk import doctor

    print(doctor.text())


@verb("init", Option("folder", metavar="FOLDER", nargs="?", type=Path, default=Path(FOLDER_NAME)))
def init(options: argparse.Namespace) -> None:
    """Make a folder of your own: every lesson and stub, under git."""
    if paths.LEARNERS is not None:
        raise WrongUse("You are in a folder of exercises already. To see what is next, type: make")
    if not paths.IS_INSTALLED and paths.ROOT in Path(options.folder).resolve().parents:
        raise WrongUse(
            f"{options.folder} would be a folder within this clone, which has the exercises already: type make. "
            f"Elsewhere: kata init ~/{FOLDER_NAME}"
        )
    from grader.integrations import bundle

    has_git = bundle.make_folder(options.folder)
    git = "git has begun in it." if has_git else "git is not here. Only make update needs it, to merge newer exercises."
    print(f"{options.folder} is yours: lessons, stubs, hints and figures.", git)
    print(f"Now type:\n  cd {paths.typed(options.folder)}\n  make start")
