"""Says whether something is written in a source, or only what everybody got."""

from grader.catalog import stubs
from grader.catalog.errors import BadSubmission
from grader.records.source import written_definitions


def is_begun(source: str, exercise: str) -> bool:
    """True if a source has another text for a definition of the stub, whatever its comments, docstrings and hints."""
    stub = stubs.original(exercise) or ""
    if _lines(source) == _lines(stub):  # most files of a class are such
        return False
    try:
        written = written_definitions(source)
    except BadSubmission:
        return True
    given = written_definitions(stub)
    return not given or any(written.get(name) != text for name, text in given.items())


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]
