"""Verbs that grade one exercise of one learner, once or on every save, and the one that ends the warm process."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import secrets
import sys
from functools import partial
from pathlib import Path

from grader import catalog
from grader.catalog import errors, paths
from grader.catalog.errors import WrongUse
from grader.cli.options import (
    NEXT,
    SUBMISSION,
    WHERE,
    exercise_or_next,
    option,
    seconds,
    verb,
)
from grader.desk import progress
from grader.records import submission
from grader.records.results import CheckOutcome, ExerciseResult, Settings, Verdict
from grader.records.submission import Unreadable
from grader.sandbox.forkserver import DEVICES, ForkServer, demand_device, pick_device

POLL = option("--poll", action="store_true", help="look at the file again and again, without file events")
# What the commands of a warm process import when they run; see grader/warm/client.py for which these are.
MODULES = (
    "grader.cli.check_verbs", "grader.cli.desk_verbs", "grader.desk.ending", "grader.desk.hints",
    "grader.desk.lesson", "grader.desk.tryout", "grader.judge.capture",
    "grader.judge.grading", "grader.judge.where.search", "grader.reports.ci",
    "grader.reports.heatmap", "grader.reports.json", "grader.reports.terminal",
    "encodings.utf_8_sig", "torch._subclasses.schema_check_mode",
)  # fmt: skip


@verb(
    "check",
    NEXT,
    SUBMISSION,
    option("--device", choices=DEVICES, default="cpu", help="default: cpu"),
    option("--seed", type=int, help="of the fresh inputs; default: a new one each time"),
    option("--timeout", type=seconds, metavar="S", help="seconds for one call"),
    option("--format", choices=("text", "json", "junit", "github", "classroom"), default="text"),
    option("--output", metavar="FILE", type=Path, help="write the report there"),
    option("--all", action="store_true", help="show every failed check in full"),
    WHERE,
)
def check(options: argparse.Namespace) -> int:
    """Grade one exercise: your own file, or the one named by --submission."""
    device = pick_device(options.device)
    if options.exercise is None and options.submission is not None:
        raise WrongUse("--submission needs an exercise: make check EX=03 SUBMISSION=FILE")
    exercise = exercise_or_next(options.exercise)
    path = options.submission or paths.stub(exercise.folder)
    is_own_file = options.submission is None
    with contextlib.ExitStack() as ending:
        fork_server = ending.enter_context(ForkServer(device))  # it imports torch while this process does
        fork_server.keep(exercise.limits.needs, exercise.forbidden)
        from grader.reports import terminal

        waiting = ending.enter_context(terminal.Waiting(terminal.console()))
        if in_terminal(options):
            waiting.begin(f"Grading {exercise.folder[:2]} {exercise.title} …")
        from grader.judge import grading  # heavy: torch
        from grader.records import containment

        demand_device(device)
        seed = options.seed if options.seed is not None else secrets.randbelow(1_000_000)
        settings = Settings(device=device, seed=seed, timeout=options.timeout, where=options.where == "1")
        handed_in = submission.attempt(partial(submission.read, path), paths.shown(path))
        is_shown = False
        for event in grading.grade(exercise, handed_in, fork_server, settings):
            if isinstance(event, CheckOutcome):
                if in_terminal(options) and not is_shown:
                    waiting.begin(f"Grading {exercise.folder[:2]} {exercise.title} … {event.number} of {event.of}")
                continue
            result = event.result
            if type(event) is Verdict:
                is_shown = False  # also where the grader fails after it has shown something
            elif in_terminal(options) and settings.where and not is_shown:
                is_shown = True  # at once, since a person waits
                waiting.end()
                terminal.show(result, terminal.console(), options.all)
                waiting.begin("Looking for the line …")
        if is_own_file and result.status != "not_graded":
            containment.optional("your progress", None, progress.note, result)
        if is_own_file and paths.own_page(exercise.folder).exists():
            from grader.integrations import lesson_page

            containment.optional("the figure", None, lesson_page.write_own, exercise, handed_in, fork_server)
        closing = [hidden_follow(exercise), next_step(result) if is_own_file else ""]
        if fork_server.tier.name == "D":
            closing.append("Your code ran without a sandbox (tier D). What would give one: make doctor")
    source = "" if isinstance(handed_in, Unreadable) else handed_in.source
    is_delivered = report(result, options, "\n".join(filter(None, closing)), source, is_shown)
    return errors.of_verdicts([result]) if is_delivered else errors.NOT_DONE


def in_terminal(options: argparse.Namespace) -> bool:
    """Whether the report is text for a person who waits for it."""
    return options.format == "text" and options.output is None


def report(
    result: ExerciseResult, options: argparse.Namespace, closing: str, source: str = "", was_shown: bool = False
) -> bool:
    """Print the result, or write it to --output and also print the text for a person.

    was_shown: the verdict is there already, and only the places and the closing follow. Returns whether all of it
    is where it was requested.
    """
    from grader.records import containment
    from grader.reports import deliver, terminal

    if was_shown:
        terminal.show_places(result, terminal.console(), closing)
        return True
    rendered = containment.optional(f"the report as {options.format}", None, render, result, options, source)
    if rendered is None or (options.format == "text" and options.output is None):
        terminal.show(result, terminal.console(), options.all, closing)
        return rendered is not None
    is_delivered = deliver(rendered, options.output)
    if options.format == "github":
        is_delivered = add_summary(result) and is_delivered
    if is_delivered and options.output is not None:
        terminal.show(result, terminal.console(), options.all, closing)
    return is_delivered


def render(result: ExerciseResult, options: argparse.Namespace, source: str) -> str:
    """The result in the requested format."""
    from grader.reports import ci, terminal
    from grader.reports import json as as_json

    if options.format == "github":
        return ci.annotations(result, source)
    if options.format == "classroom":
        return ci.as_classroom(result)
    if options.format == "text":
        return terminal.plain(result, options.all)
    if options.format == "junit":
        return ci.as_junit(result)
    from grader.desk import hints

    hint = hints.free(result) if result.status != "not_graded" else None
    return as_json.render(result, {"next_hint": hint and {"task": hint.task, "text": hint.text}})


def add_summary(result: ExerciseResult) -> bool:
    """Add the result to the summary of a GitHub Actions job, if there is one. Returns False where that fails."""
    from grader.reports import ci

    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        try:
            with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(ci.summary(result))
        except OSError as error:
            print(f"the summary {path} cannot be written: {error.strerror}", file=sys.stderr)
            return False
    return True


def hidden_follow(exercise: catalog.Exercise) -> str:
    """The sentence on points that are not graded in a learner's bundle; elsewhere ""."""
    if not exercise.hidden_points:
        return ""
    all_points = exercise.max_points + exercise.hidden_points
    return f"These are {exercise.max_points:g} of {all_points:g} points. Hidden checks follow when you hand in."


def next_step(result: ExerciseResult) -> str:
    """The command that a learner would type next."""
    number = result.exercise[:2]
    if not result.started:
        lesson, notebook = paths.shown(paths.lesson(result.exercise)), paths.notebook(result.exercise)
        if notebook.exists():
            return f"If you work in the notebook: make check EX={number} SUBMISSION={paths.typed(notebook)}"
        return f"Begin with the lesson: {lesson}\nThen leave this open beside your editor: make start EX={number}"
    if result.status == "not_graded":
        return ""
    if result.status != "passed":
        return f"Fix it, then: make check EX={number} SEED={result.seed} repeats the same inputs."
    from grader.desk import ending

    return "\n".join(filter(None, [*ending.lines(result.exercise), ending.next_step(result.exercise)]))


@verb("start", NEXT, WHERE, POLL)
def start(options: argparse.Namespace) -> int:
    """Open the watch at the exercise to do next, or at EX."""
    return watch(options)


@verb(
    "watch",
    NEXT,
    WHERE,
    POLL,
)
def watch(options: argparse.Namespace) -> int:
    """Grade one exercise again on every save, with task, hints and verdict in one place."""
    exercise = exercise_or_next(options.exercise)
    from grader.desk import watch

    return watch.run(exercise, options.poll, options.where == "1")


@verb("stop")
def stop(options: argparse.Namespace) -> int:
    """End the grading process that keeps torch ready for the next command; it also ends by itself."""
    from grader.warm import control

    print("The warm process has ended." if control.stop() else "There is no warm process here.")
    return errors.PASSED


def load() -> None:
    """Import what commands need."""
    for name in MODULES:
        importlib.import_module(name)
