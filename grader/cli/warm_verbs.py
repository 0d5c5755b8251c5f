"""The verb that ends the warm process, and the modules that it imports once for all commands."""

from __future__ import annotations

import argparse
import importlib

from grader.catalog import errors
from grader.cli.options import verb

# What the commands of a warm process import when they run; see grader/warm/client.py for which these are.
MODULES = (
    "grader.cli.check_verbs", "grader.cli.desk_verbs", "grader.desk.beside", "grader.desk.ending", "grader.desk.hints",
    "grader.desk.lesson", "grader.desk.review", "grader.desk.side_by_side", "grader.desk.tryout", "grader.desk.watch",
    "grader.integrations.live_figure", "grader.integrations.notebook.answering",
    "grader.integrations.notebook.display", "grader.judge.capture",
    "grader.judge.examiner", "grader.judge.where.search", "grader.reports.ci", "grader.reports.delivery",
    "grader.reports.formulas", "grader.reports.heatmap", "grader.reports.json", "grader.reports.terminal",
    "encodings.utf_8_sig", "torch._subclasses.schema_check_mode",
)  # fmt: skip


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
