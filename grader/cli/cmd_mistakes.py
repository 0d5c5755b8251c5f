"""Show the known mistakes of an exercise: what a learner reads, what each changes and shows, which checks it fails."""

import argparse
import json
from dataclasses import asdict
from typing import Any

from grader import catalog
from grader.catalog import errors
from grader.catalog.errors import WrongUse

COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("exercise", metavar="EX", help="its number or name")
    parser.add_argument("name", nargs="?", metavar="NAME", help="one mistake; default: all")
    parser.add_argument("--format", choices=("text", "json", "md"), default="text")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    from grader.catalog import misconceptions, mistakes

    folder = catalog.find(options.exercise).folder
    chosen = [mistake for mistake in mistakes.mistakes(folder) if options.name in (None, mistake.name)]
    if not chosen:
        name = options.name or "mistakes"
        raise WrongUse(f"{folder} has no {name} here. See all: make mistakes EX={folder[:2]}")
    shows = misconceptions.of_mistakes(folder)
    not_passed = mistakes.failed_checks(folder)
    rows = [
        {
            "name": mistake.name,
            "sentence": mistake.sentence,
            "misconception": asdict(shows[mistake.name]) if mistake.name in shows else None,
            "changes": mistake.changes,
            "failed_checks": list(not_passed[mistake.name].failed) if mistake.name in not_passed else [],
        }
        for mistake in chosen
    ]
    if options.format == "json":
        print(json.dumps({"schema": 1, "exercise": folder, "mistakes": rows}, indent=2, ensure_ascii=False))
    elif options.format == "md":
        print(f"# Mistakes of {folder}\n\n" + "\n".join(map(_markdown, rows)), end="")
    else:
        _show(rows)
    return errors.PASSED


def _show(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for row in rows:
        console.print(Text(row["name"], "bold"))
        console.print(Text(row["sentence"]))
        for line in row["changes"]:
            console.print(Text(f"    {line}", COLOURS.get(line[:1], "")))
        console.print(Text(f"shows: {_shown(row)}", "dim"))
        console.print(Text(f"fails: {_failed(row)}\n", "dim"))
    console.print(f"{len(rows)} mistake{'s' * (len(rows) != 1)}")


def _markdown(row: dict[str, Any]) -> str:
    changes = "\n".join(row["changes"])
    facts = f"Shows: {_shown(row)}\n\nFails: {_failed(row)}\n"
    return f"## `{row['name']}`\n\n{row['sentence']}\n\n```diff\n{changes}\n```\n\n{facts}"


def _shown(row: dict[str, Any]) -> str:
    """The misconception, and what to show again."""
    misconception = row["misconception"]
    return (
        f"{misconception['title']} (lesson {misconception['lesson']}, “{misconception['section']}”)"
        if misconception
        else "no misconception yet"
    )


def _failed(row: dict[str, Any]) -> str:
    return ", ".join(row["failed_checks"]) or "not known yet (make verify WRITE=1)"
