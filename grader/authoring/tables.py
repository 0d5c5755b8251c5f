"""Tables that are made: which checks fail which mistake, for the diagnosis and as a page, and documented numbers."""

import json
from collections.abc import Sequence

from grader import catalog
from grader.catalog import documented, mistakes, paths
from grader.catalog.documented import DocumentedNumber
from grader.catalog.mistakes import NotPassed

FAILED, NOT_CHECKED = "✗", "–"


def update(exercise: catalog.Exercise, not_passed: dict[str, NotPassed], write: bool) -> bool:
    """Whether failed_checks.json of an exercise says what was found; with `write` it does afterwards."""
    path, text = paths.failed_checks(exercise.folder), as_json(not_passed)
    if write:
        path.write_text(text, "utf-8")
    return path.exists() and path.read_text("utf-8") == text


def as_json(not_passed: dict[str, NotPassed]) -> str:
    """One line for each mistake, as grader/catalog/mistakes.py reads it."""
    rows = {name: {"failed": row.failed, "not_checked": row.not_checked} for name, row in sorted(not_passed.items())}
    return "{\n" + ",\n".join(f" {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items()) + "\n}\n"


def pages() -> dict[str, str]:
    """The pages of the site that no file holds: name → Markdown. Empty in a learner's bundle."""
    numbers = documented.all_numbers()
    made = {
        "documented-numbers.md": "# Documented numbers\n\n"
        f"{len(numbers)} numbers, tensors and shapes, each graded.\n\n{documented_table(numbers)}"
    }
    if paths.SOLUTIONS.is_dir():
        head = (
            "# Which checks fail which mistake\n\n"
            f"{FAILED}: the check fails. {NOT_CHECKED}: it is not tried, since one that it builds on failed.\n"
            "The sentence is what a learner reads.\n"
        )
        made["failed-checks.md"] = head + "".join(map(of_exercise, catalog.exercises()))
    return made


def of_exercise(exercise: catalog.Exercise) -> str:
    """One row a check, one column a mistake, and the mistakes by number below."""
    known, rows = mistakes.mistakes(exercise.folder), mistakes.failed_checks(exercise.folder)
    rows = [rows.get(mistake.name, NotPassed(())) for mistake in known]
    lines = [f"\n## {exercise.folder}\n", "| check | " + " | ".join(str(i + 1) for i in range(len(known))) + " |"]
    lines.append("|---|" + ":-:|" * len(known))
    for check in exercise.points:
        marks = [FAILED if check in row.failed else NOT_CHECKED if check in row.not_checked else " " for row in rows]
        lines.append(f"| {check} | " + " | ".join(marks) + " |")
    lines += ["", *(f"{i}. `{mistake.name}`: {mistake.sentence}" for i, mistake in enumerate(known, 1))]
    return "\n".join(lines) + "\n"


def documented_table(numbers: Sequence[DocumentedNumber]) -> str:
    """The table that stands in the docs."""
    lines = ["| exercise | number | document | place | graded by |", "|---|---|---|---|---|"]
    for number in numbers:
        cells = (number.exercise, number.id, number.source, number.place, number.check)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
