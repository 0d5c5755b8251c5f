"""Shows each warning of torch's and Python's once, in one line with the learner's code, among what that code prints."""

import linecache
import sys
import warnings

SIGN = "warning: "  # how such a line begins
MAX_CODE = 80  # characters of the learner's line
shown: set[str] = set()


def install() -> None:
    """Show warnings in this way, in this process and its forks."""
    warnings.showwarning = _show


def _show(message: Warning, category: type, filename: str, lineno: int, file: object = None, line: object = None):
    text = " ".join(str(message).split())
    if text not in shown:
        shown.add(text)
        code = _own_code(filename, lineno)
        print(f"{SIGN}{text}{f' (at `{code}`)' if code else ''}", file=sys.stderr)


def _own_code(filename: str, lineno: int) -> str:
    """The line of the learner's from which the warning comes; "" where there is none."""
    frame = sys._getframe()
    while frame is not None and not _is_own(frame.f_code.co_filename):
        frame = frame.f_back
    place = (filename, lineno) if _is_own(filename) else (frame.f_code.co_filename, frame.f_lineno) if frame else None
    return linecache.getline(*place).strip()[:MAX_CODE] if place else ""


def _is_own(filename: str) -> bool:
    """Whether a file is a submitted one, whose lines are in linecache alone: there it has no time."""
    cached = linecache.cache.get(filename, (0, 0))
    return len(cached) > 1 and cached[1] is None
