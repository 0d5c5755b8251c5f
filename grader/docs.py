"""The generated pages of docs/: the kill table and the table of documented numbers."""

from grader import documented, paths, verify
from grader.commands.documented import markdown

MADE = "<!-- Made by `make verify WRITE=1`. Do not edit. -->\n\n"


def update(reports: list[verify.Report], write: bool) -> list[str]:
    """Names of the pages that are not current; with `write` they are made anew instead."""
    stale = []
    for name, text in pages(reports).items():
        path = paths.DOCS / name
        if path.exists() and path.read_text("utf-8") == text:
            continue
        if write:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
        else:
            stale.append(paths.shown(path))
    return stale


def pages(reports: list[verify.Report]) -> dict[str, str]:
    """File name → content."""
    kills = [f"# Which check fails which wrong version\n\n{MADE}"]
    kills.append("✗: the check fails the wrong version. The sentence is what a learner reads.\n")
    for report in reports:
        kills.append(f"\n## {report.exercise.folder}\n\n{verify.table(report)}")
    numbers = documented.all_numbers()
    table = f"# Documented numbers\n\n{MADE}{len(numbers)} numbers, tensors and shapes, each graded.\n\n"
    return {"kill-table.md": "".join(kills), "documented-numbers.md": table + markdown(numbers)}
