"""Makes an exercise's notebook from its lesson and its stub. A notebook that was edited or run is not replaced.

There the learner's code is in cells, and a call does what make does in a terminal: the lesson's words follow.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.catalog import Exercise, errors, paths, project
from grader.catalog.errors import WrongUse
from grader.desk import checkout, lesson
from grader.integrations.nbgrader import assignment
from grader.records.our_cells import SETUP
from grader.reports.json import SCHEMA

BLOCK = re.compile(r"^```python\n(.*?)^```[ ]*$\n?", re.M | re.S)
EXPERIMENT = "## Experiment\n"  # this section ends with a cell that runs the experiment
MADE, KEPT = "made", "kept"
MINE = "attention-kata"  # our key in the notebook's metadata
FIRST = (
    "You write your code in the cells of this notebook. Run the set-up first, then the cells that you change. The last "
    "one grades them."
)
LAST = "check()  # hint(): a hint; plot(): your weights beside the expected ones"
BESIDE = "script beside this notebook"
FIGURE = "figure()  # the lesson's figure: move its numbers"
HIDDEN = '# %% jupyter={"source_hidden": true}'
MAY_FAIL = '# %% tags=["raises-exception"]'  # "run all" continues after such a cell
FRAME = {
    "## Tasks": "Run the cells with the lesson's calls as you go: the comments show the lesson's values.",
    "## Experiment": "`experiment()` measures this again, in the cell below it.",
}
CALL = re.compile(r"`make (check|hint|plot|experiment)(?: EX=\d+)?`")
NUMBER = re.compile(r"# (\d\d) ")
IN_A_TERMINAL = re.compile(r"`(make [a-z]+[^`]*)`")
OF_FUNCTIONS = "; YOUR_FILE is a Python file with your functions"
MAKE_BLOCK = re.compile(r"^(```\w*\n)(?=make )", re.M)
SCRIPT = re.compile(r"((?:^|\n\n|[.?!]\s))?\[experiment\.py\]\(experiment\.py\)")


@dataclass(frozen=True)
class Cell:
    """One cell. is_example: a call of the lesson; it may raise an error while the code is not written."""

    text: str
    is_code: bool = False
    is_example: bool = False


def cells(lesson: str, stub: str) -> list[Cell]:
    """The cells in order. A call follows the code that it calls, and a value that the lesson shows ends its cell."""
    parts = assignment.cells(lesson, stub, frozenset())
    missing = {part.name for part in parts if isinstance(part, assignment.Code) and part.name}
    arranged: list[Cell] = []
    latest = ""  # the heading of the last section that was arranged
    waiting: dict[str, list[Cell]] = {}  # by heading: examples, and the text between, until what they call has come
    for number, part in enumerate(parts):
        following = parts[number + 1] if number + 1 < len(parts) else None
        if isinstance(part, assignment.Markdown):
            first, *rest = list(_of_section(part.text))
            arranged.append(first)
            latest = part.text.partition("\n")[0]
            if rest:
                waiting[latest] = rest
        elif isinstance(part, assignment.Code):
            missing -= {part.name}
            lines = [line for line in part.text.splitlines() if line.strip() not in (assignment.BEGIN, assignment.END)]
            arranged.append(Cell("\n".join(lines), is_code=True))
        if not isinstance(following, assignment.Code) and not _calls(_flat(waiting), missing):
            arranged += _flat(waiting) if {*waiting} <= {latest} else _flat(waiting, has_headings=True)
            waiting = {}
    return [*arranged, *_flat(waiting)]


def make(exercise: Exercise) -> tuple[Path, str]:
    """Write the notebook beside the lesson.

    Returns its path, and MADE, or KEPT where a notebook exists that somebody has worked in.

    Raises WrongUse where jupytext is absent or the file cannot be written.
    """
    path = paths.notebook(exercise.folder)
    try:
        import jupytext
    except ImportError:
        raise errors.missing_extra("Notebooks are made by jupytext", "notebook") from None
    if path.exists() and not is_untouched(path):
        return path, KEPT
    notebook = jupytext.reads(percent(exercise), fmt="py:percent")
    notebook.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata.pop("jupytext", None)  # the notebook is paired with no other file
    for number, cell in enumerate(notebook.cells):
        cell.metadata.pop("lines_to_next_cell", None)
        cell.id = f"{exercise.folder[:2]}-{number}"  # the same in each run, so that git shows no change
    notebook.metadata[MINE] = {"made": fingerprint(notebook), "schema": SCHEMA}
    try:
        jupytext.write(notebook, path)
    except OSError as error:
        raise WrongUse(f"{paths.shown(path)} cannot be written: {error.strerror}") from None
    return path, MADE


def percent(exercise: Exercise) -> str:
    """Lesson and stub as one source in jupytext's percent format, in the lesson's order."""
    lesson = paths.lesson(exercise.folder).read_text("utf-8")
    parts, slug = [_markdown(FIRST)], paths.slug(exercise.folder)
    has_figure = paths.figure_script(exercise.folder).exists() and paths.figure_data(exercise.folder).exists()
    parts.append(f"{HIDDEN}\n{SETUP.format(repository=project.address(), folder=exercise.folder)}")
    for cell in cells(lesson_for_notebook(lesson, slug), checkout.source(exercise.folder)):
        if cell.is_code:
            parts.append(f"{MAY_FAIL if cell.is_example else '# %%'}\n{cell.text}")
        else:
            parts.append(_markdown(cell.text))
        if has_figure and cell.text.startswith("# "):  # at the top
            parts.append(f"{HIDDEN}\n{FIGURE}")
            has_figure = False
    parts.append(f"# %%\n{LAST}")
    return "\n\n".join(parts) + "\n"


def is_untouched(path: Path) -> bool:
    """Whether a notebook was neither edited nor run since it was made."""
    try:
        notebook = json.loads(path.read_text("utf-8"))
        ran = any(cell.get("outputs") or cell.get("execution_count") for cell in notebook["cells"])
        return not ran and notebook["metadata"][MINE]["made"] == fingerprint(notebook)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def fingerprint(notebook: dict) -> str:
    """The SHA-256 of the kinds and texts of all cells, in hexadecimal."""
    contents = [[cell["cell_type"], "".join(cell["source"])] for cell in notebook["cells"]]
    return hashlib.sha256(json.dumps(contents).encode()).hexdigest()


def lesson_for_notebook(markdown: str, slug: str) -> str:
    """Markdown of a lesson that names no target of make without a terminal, and no file to write in."""
    text = lesson.for_page(markdown, sentences=FRAME)
    text = text.replace("</details>\n", "</details>\n<br>\n")
    text = CALL.sub(r"`\1()`", text)
    if title := NUMBER.match(markdown):  # the file beside the notebook is still the stub
        train, folder = f"make train EX={title[1]}", f"{title[1]}_{slug}"
        text = text.replace(f"`{train}`", f"`{train} SUBMISSION=exercises/{folder}/{slug}.ipynb`")
    text = IN_A_TERMINAL.sub(r"`\1` (in a terminal)", text)
    text = MAKE_BLOCK.sub(r"\1# in a terminal\n", text)
    text = SCRIPT.sub(lambda found: f"{found[1]}The {BESIDE}" if found[1] else f"the {BESIDE}", text)
    text = re.sub(rf"exercises/\w+/{re.escape(slug)}\.py", "YOUR_FILE", text)
    text = re.sub(r"(YOUR_FILE\W*` \(in a terminal\))", rf"\1{OF_FUNCTIONS}", text)
    file = re.escape(f"`{slug}.py`")
    text = re.sub(rf"You write {file}: ", "You write ", text)
    text = re.sub(rf"\b(in|into) {file}", r"\1 the cells of this notebook", text)
    text = re.sub(rf"Write {file}", "Write it in the cells of this notebook", text)
    return re.sub(file, "this notebook", text)


def _of_section(text: str) -> Iterator[Cell]:
    """The cells of a section. In the sections of the tasks each `python` block is a code cell, unless it is folded."""
    if not lesson.EXAMPLES_HEADING.match(text.partition("\n")[0]):
        yield Cell(text)
        if text.startswith(EXPERIMENT):
            yield Cell("experiment()", is_code=True)
        return
    end = 0
    for block in BLOCK.finditer(text):
        if text.count("<details>", 0, block.start()) > text.count("</details>", 0, block.start()):
            continue  # a cell cannot be folded with the text around it
        if before := text[end : block.start()].strip("\n"):
            yield Cell(before)
        yield from (Cell(piece, is_code=True, is_example=True) for piece in lesson.cells(block[1]))
        end = block.end()
    if after := text[end:].strip("\n"):
        yield Cell(after)


def _flat(waiting: dict[str, list[Cell]], has_headings: bool = False) -> list[Cell]:
    """The cells in order. has_headings: with a heading before those of each section, which is far above."""
    arranged: list[Cell] = []
    for heading, of_section in waiting.items():
        if has_headings:
            task = assignment.TASK.match(heading)
            arranged.append(Cell(f"#### {f'Task {task[1]}' if task else heading.lstrip('# ')}, its example"))
        arranged += of_section
    return arranged


def _calls(waiting: Iterable[Cell], names: Iterable[str]) -> bool:
    """Whether one of the examples calls a function or class of these names."""
    code = "\n".join(cell.text for cell in waiting if cell.is_example)
    return any(re.search(rf"\b{name}\b", code) for name in names)


def _markdown(text: str) -> str:
    """A Markdown cell in the percent format."""
    return "\n".join(["# %% [markdown]", *(f"# {line}".rstrip() for line in text.splitlines())])
