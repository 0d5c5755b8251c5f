"""What `verify` makes: the kill tables, for the diagnosis and as a page, and the page of documented numbers."""

import json
from pathlib import Path

from grader import documented, paths, verify
from grader.commands.documented import markdown

MADE = "<!-- Made by `make verify WRITE=1`. Do not edit. -->\n\n"


def update(reports: list[verify.Report], write: bool, every: bool) -> list[str]:
    """Names of the files that are not current; with `write` they are made anew instead.

    every: whether the reports are those of all exercises, which the pages need.
    """
    stale = []
    for path, text in (tables(reports) | (pages(reports) if every else {})).items():
        if path.exists() and path.read_text("utf-8") == text:
            continue
        if write:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
        else:
            stale.append(paths.shown(path))
    return stale


def tables(reports: list[verify.Report]) -> dict[Path, str]:
    """The kill table of each exercise, as grader/diagnosis.py reads it."""
    made = {}
    for report in reports:
        order = list(report.exercise.points)
        rows = {name: report.kills[name] | report.untried[name] for name in report.kills}
        lines = [f"{json.dumps(name)}: {json.dumps(sorted(rows[name], key=order.index))}" for name in rows]
        made[paths.kills(report.exercise.folder)] = "{\n " + ",\n ".join(lines) + "\n}\n"
    return made


def pages(reports: list[verify.Report]) -> dict[Path, str]:
    """The pages of docs/."""
    kills = [f"# Which check fails which wrong version\n\n{MADE}"]
    kills.append("✗: the check fails the wrong version. The sentence is what a learner reads.\n")
    for report in reports:
        kills.append(f"\n## {report.exercise.folder}\n\n{verify.table(report)}")
    numbers = documented.all_numbers()
    table = f"# Documented numbers\n\n{MADE}{len(numbers)} numbers, tensors and shapes, each graded.\n\n"
    numbers_page = paths.DOCS / "documented-numbers.md"
    return {paths.DOCS / "kill-table.md": "".join(kills), numbers_page: table + markdown(numbers)}
