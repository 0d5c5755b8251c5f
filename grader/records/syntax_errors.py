"""Where in its line a source is not Python: the column, as Python's caret shows it."""

import ast

from grader.records.limited import limited


@limited
def caret(source: str, line: int) -> list[int]:
    """The first column and the one after the last of the syntax error on a line, from 0; [] where it is another line.

    Raises BadSubmission where parsing exceeds a limit.
    """
    try:
        ast.parse(source)
    except SyntaxError as error:
        if error.lineno == line and error.offset:
            ends_there = error.end_lineno == line and (error.end_offset or 0) > error.offset
            return [error.offset - 1, (error.end_offset or 0) - 1 if ends_there else error.offset]
    except ValueError:
        pass
    return []
