"""Generated tables: which checks fail which mistake, for the diagnosis and as a page, and the documented numbers."""

from collections.abc import Sequence

from grader import catalog
from grader.catalog import documented, mistakes, paths
from grader.catalog.documented import DocumentedNumber
from grader.catalog.mistakes import NotPassed

FAILED, NOT_CHECKED = "✗", "–"


def out_of_date(exercise: catalog.Exercise, not_passed: dict[str, NotPassed]) -> list[str]:
    """What is not current in failed_checks.json of an exercise, in words; [] where all is.

    not_passed: mistake → the checks that it does not pass.
    """
    path = paths.failed_checks(exercise.folder)
    if not path.exists():
        return ["it is not there"]
    if path.read_text("utf-8") == mistakes.as_json([*exercise.points], not_passed):
        return []
    recorded = mistakes.failed_checks(exercise.folder)
    lines = []
    for name in sorted({*recorded, *not_passed}):
        before, now = recorded.get(name, NotPassed(())), not_passed.get(name, NotPassed(()))
        sets = (
            ("fails", {*now.failed} - {*before.failed}),
            ("no longer fails", {*before.failed} - {*now.failed}),
            ("does not reach", {*now.not_checked} - {*before.not_checked}),
            ("reaches", {*before.not_checked} - {*now.not_checked} - {*now.failed}),
        )
        changes = [f"{verb} {', '.join(sorted(checks))}" for verb, checks in sets if checks]
        lines += [f"{name} {' and '.join(changes)}"] * bool(changes)
    return lines or ["it has other checks or mistakes than the exercise"]


def pages() -> dict[str, str]:
    """The generated pages of the site: name → Markdown. A learner's bundle has no page about mistakes."""
    numbers = documented.all_numbers()
    texts = {
        "documented-numbers.md": "# Documented numbers\n\n"
        f"{len(numbers)} numbers, tensors and shapes, each graded.\n\n{documented_table(numbers)}"
    }
    if paths.SOLUTIONS.is_dir():
        heading = (
            "# Which checks fail which mistake\n\n"
            f"{FAILED}: the check fails. {NOT_CHECKED}: it is not tried, since one that it builds on failed.\n"
            "The sentence is what a learner reads.\n"
        )
        texts["failed-checks.md"] = heading + "".join(map(of_exercise, catalog.exercises()))
    return texts


def of_exercise(exercise: catalog.Exercise) -> str:
    """A table with a row for each check and a column for each mistake, and below it the mistakes by number."""
    columns, by_name = mistakes.mistakes(exercise.folder), mistakes.failed_checks(exercise.folder)
    not_passed = [by_name.get(mistake.name, NotPassed(())) for mistake in columns]
    numbers = [str(number) for number in range(1, len(columns) + 1)]
    lines = [f"\n## {exercise.folder}\n", f"| check | {' | '.join(numbers)} |", "|---|" + ":-:|" * len(columns)]
    for check in exercise.points:
        marks = [_mark(check, of_mistake) for of_mistake in not_passed]
        lines.append(f"| {check} | " + " | ".join(marks) + " |")
    shows = mistakes.misconceptions_of_mistakes(exercise.folder)
    titles = [f" *{shows[mistake.name].title}*" if mistake.name in shows else "" for mistake in columns]
    lines += ["", *(f"{i}. `{m.name}`: {m.sentence}{title}" for i, (m, title) in enumerate(zip(columns, titles), 1))]
    return "\n".join(lines) + "\n"


def documented_table(numbers: Sequence[DocumentedNumber]) -> str:
    """The documented numbers as a Markdown table."""
    lines = ["| exercise | number | document | place | graded by |", "|---|---|---|---|---|"]
    for number in numbers:
        cells = (number.exercise, number.id, number.source, number.place, number.check)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _mark(check: str, of_mistake: NotPassed) -> str:
    """The cell of a check in the column of a mistake."""
    if check in of_mistake.failed:
        return FAILED
    return NOT_CHECKED if check in of_mistake.not_checked else " "
