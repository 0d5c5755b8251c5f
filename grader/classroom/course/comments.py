"""Comments to a student, which stand in their feedback: comments.csv, or a Markdown file for each in comments/."""

from pathlib import Path

from grader import catalog
from grader.catalog.errors import WrongUse
from grader.classroom.roster import sheet
from grader.records.sanitize import inert, label

NAME, FOLDER = "comments.csv", "comments"
MAX_TEXT = 20_000  # characters of one comment

Comments = dict[tuple[str, str], str]  # (student's id, exercise's folder or "" for all) → text


def read(folder: Path) -> Comments:
    """The comments beside course.toml. Raises WrongUse for a file that cannot be read."""
    by_key: Comments = {}
    path = folder / NAME
    if path.exists():
        table = sheet.read(path)
        student, exercise, text = (table.column(title) for title in ("student", "exercise", "comment"))
        if student is None or text is None:
            raise WrongUse(f"{label(str(path))} needs the columns student, exercise, comment; exercise may be left out")
        for row in range(len(table.rows)):
            key = table.cell(row, student), _folder(table.cell(row, exercise), f"{label(str(path))}, line {row + 2}")
            if table.cell(row, text):
                by_key[key] = "\n\n".join(filter(None, [by_key.get(key), inert(table.cell(row, text))[:MAX_TEXT]]))
    for file in sorted((folder / FOLDER).glob("*.md")):
        try:
            text = inert(file.read_text("utf-8"))[:MAX_TEXT].strip()
        except (OSError, UnicodeDecodeError):
            raise WrongUse(f"{label(str(file))} cannot be read as UTF-8") from None
        if text:
            by_key[file.stem, ""] = "\n\n".join(filter(None, [by_key.get((file.stem, "")), text]))
    return by_key


def _folder(text: str, location: str) -> str:
    """The exercise's folder; "" for a comment on all of the student's work."""
    try:
        return catalog.find(text).folder if text else ""
    except catalog.NoSuchExercise as error:
        raise WrongUse(f"{location}: {error}") from None
