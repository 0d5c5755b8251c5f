"""`grade` for a class: a folder of submissions, or a course of nbgrader."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader import catalog
from grader.catalog import errors, extras
from grader.catalog.errors import WrongUse
from grader.cli import processes
from grader.records.sanitize import label
from grader.sandbox.devices import pick_device

MOST_EARLIER = 8  # names of students

if TYPE_CHECKING:
    from grader.classroom.office import Office
    from grader.classroom.run import Plan
    from grader.classroom.show import Show


def run_class(options: argparse.Namespace) -> int:
    """Grade a folder of submissions.

    Returns exit code 3 where something could not be graded or written, or a person must say whose it is.
    """
    from grader.classroom import run as classroom
    from grader.classroom.outputs import Unwritten

    plan = planned(options, options.submissions, options.out)
    office = office_of(options)
    plan = replace(
        plan,
        office=office,
        drop=options.drop,
        anonymous=options.anonymous or office.course.anonymous,
        level=options.feedback or office.course.feedback or "full",
    )
    with shown(options) as show:
        try:
            undone = classroom.run(plan, show)
        except Unwritten as error:
            show.say(str(error))
            return errors.NOT_DONE
    return errors.NOT_DONE if undone else errors.PASSED


def run_nbgrader(options: argparse.Namespace) -> int:
    """Grade an assignment of a course and record it in nbgrader's gradebook.

    Returns exit code 3 where something could not be graded.
    """
    if not options.assignment:
        raise WrongUse("name the assignment too: --assignment NN_slug")
    from grader.classroom import private
    from grader.classroom import run as classroom
    from grader.classroom.intake import tally
    from grader.classroom.run import Event
    from grader.reports.delivery import deliver

    try:
        from grader.integrations.nbgrader import course_totals, gradebook, submitted
    except ImportError:
        raise extras.missing("Grading its courses needs nbgrader", "classroom") from None
    settings = submitted.settings_of(options.nbgrader)
    for name in ("device", "seed", "timeout", "tier", "accept_tier"):
        if getattr(options, name) is None:
            setattr(options, name, settings.get(name))
    rules = office_of(options, options.nbgrader)
    plan = replace(planned(options, options.nbgrader, options.nbgrader), office=rules)
    with shown(options) as show:
        recorded = gradebook.grade_course(
            options.nbgrader,
            options.assignment,
            lambda handins: classroom.graded(plan, handins, show),
            options.force,
            office=rules,
        )
        name = options.nbgrader.resolve().name
        show(Event("recorded", {"course": name, "recorded": len(recorded.graded), "failed": dict(recorded.failed)}))
        file = options.nbgrader / course_totals.NAME
        written = deliver(course_totals.table(options.nbgrader, rules), file)
        private.everything(file)
        lines = [f"Totals by the rules of the course: {file}"] if written else []
        if recorded.earlier:
            names = label(tally.listed(recorded.earlier, MOST_EARLIER))
            lines.append(f"An earlier attempt counts, and is what the gradebook has: {names}")
        lines += recorded.notes
        show(Event("notes", {"lines": tuple(lines)}))
    if not written:
        return errors.NOT_DONE
    return errors.NOT_DONE if recorded.failed or recorded.notes else errors.PASSED


def office_of(options: argparse.Namespace, beside: Path = Path()) -> Office:
    """The roster and the rules of the course. beside: the folder of course.toml, if no other file is named."""
    from grader.classroom import office
    from grader.classroom.course import settings

    usual = beside / settings.NAME
    return office.opened(options.rules or (usual if usual.exists() else None), options.roster)


def planned(options: argparse.Namespace, submissions: Path, out: Path) -> Plan:
    """The run that the options ask for."""
    from grader.classroom.run import Plan

    return Plan(
        submissions=submissions,
        out=out,
        exercises=chosen(options.ex),
        named=options.ex.strip().lower() != "all",
        device=pick_device(options.device or "cpu"),
        seed=options.seed,
        timeout=options.timeout,
        jobs=options.jobs or processes.cores(),
        tier=options.tier,
        accept_tier=options.accept_tier,
        dask=options.dask,
        form=options.csv,
        level=options.feedback or "full",
    )


@contextlib.contextmanager
def shown(options: argparse.Namespace) -> Iterator[Show]:
    """The progress of a run on stderr and in its log."""
    from grader.classroom.show import Show

    show = Show(options.log)
    try:
        yield show
    finally:
        show.close()


def chosen(text: str) -> tuple[catalog.Exercise, ...]:
    """The exercises of "03,07", or of "all". Raises WrongUse where the words name none."""
    if text.strip().lower() == "all":
        return catalog.for_class()
    exercises = [catalog.find(name) for name in text.replace(" ", ",").split(",") if name]
    by_folder = {exercise.folder: exercise for exercise in exercises}
    if not by_folder:
        raise WrongUse("EX names no exercise. Write EX=03,07 or EX=all")
    return tuple(by_folder[folder] for folder in sorted(by_folder))
