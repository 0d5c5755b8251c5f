"""The cells of an exercise's notebook in their order: the lesson, the code to write, the lesson's calls to run."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from grader.desk import examples
from grader.integrations.nbgrader import assignment

BLOCK = re.compile(r"^```python\n(.*?)^```[ ]*$\n?", re.M | re.S)
# The paragraph that names the common promises, and the list that follows it.
PROMISES = re.compile(r"^[^\n|]*\[common promises\].*?(?=\n\n(?![-*] )|\Z)", re.M | re.S)
EXPERIMENT = "## Experiment\n"  # this section ends with a cell that runs the experiment
FOLDED = "<details>\n<summary>What else is graded</summary>\n\n{}\n\n</details>"


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
    waiting: list[Cell] = []  # examples, and the text between them, until the code that they call has come
    for number, part in enumerate(parts):
        following = parts[number + 1] if number + 1 < len(parts) else None
        if isinstance(part, assignment.Markdown):
            first, *rest = list(_of_section(part.text))
            arranged.append(first)
            waiting += rest
        elif isinstance(part, assignment.Code):
            missing -= {part.name}
            lines = [line for line in part.text.splitlines() if line.strip() not in (assignment.BEGIN, assignment.END)]
            arranged.append(Cell("\n".join(lines), is_code=True))
        if not isinstance(following, assignment.Code) and not _calls(waiting, missing):
            arranged += waiting
            waiting = []
    return [*arranged, *waiting]


def _of_section(text: str) -> Iterator[Cell]:
    """The cells of a section of the lesson. In the sections of the tasks each `python` block is a code cell."""
    if not examples.HEADING.match(text.partition("\n")[0]):
        yield Cell(_folded(text))
        if text.startswith(EXPERIMENT):
            yield Cell("experiment()", is_code=True)
        return
    end = 0
    for block in BLOCK.finditer(text):
        if before := text[end : block.start()].strip("\n"):
            yield Cell(_folded(before))
        yield from (Cell(piece, is_code=True, is_example=True) for piece in examples.cells(block[1]))
        end = block.end()
    if after := text[end:].strip("\n"):
        yield Cell(_folded(after))


def _folded(text: str) -> str:
    """The text with the list of promises in a closed `<details>`."""
    return PROMISES.sub(lambda match: FOLDED.format(match[0].strip()), text)


def _calls(waiting: Iterable[Cell], names: Iterable[str]) -> bool:
    """Whether one of the examples calls a function or class of these names."""
    code = "\n".join(cell.text for cell in waiting if cell.is_example)
    return any(re.search(rf"\b{name}\b", code) for name in names)
