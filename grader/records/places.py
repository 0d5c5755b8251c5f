"""Where a line of a submission stands, in words: "line 60" of a file, "cell 7, line 3" of a notebook.

A notebook's code is one source, in which a title precedes each cell. Cells are numbered from 1, as in Jupyter.
"""

import re

LINE_ENDS = re.compile(r"\r\n|\r|\n")
TITLE = re.compile(r"# --- (?:cell (\d+)|In \[(\d+)\]) ---")


def title(number: int) -> str:
    """The line above the code of a cell."""
    return f"# --- cell {number} ---"


def is_notebook(source: str) -> bool:
    """Whether a source is a notebook's: it begins with a title."""
    return TITLE.match(source) is not None


def place(source: str, line: int) -> str:
    """A line of the source, in words."""
    if is_notebook(source):
        lines = LINE_ENDS.split(source)[:line]
        for back, text in enumerate(reversed(lines)):
            match = TITLE.fullmatch(text)
            if match and back:
                return f"cell {match[1] or match[2]}, line {back}"
    return f"line {line}"


def in_file(source: str, filename: str, line: int) -> str:
    """A line with the file's name: "scores.py:60", which terminals show as a link; "scores.ipynb, cell 7, line 3"."""
    return f"{filename}, {place(source, line)}" if is_notebook(source) else f"{filename}:{line}"
