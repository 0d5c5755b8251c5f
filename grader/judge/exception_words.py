"""The words for an exception of the learner's, and for a process that ended without an answer."""

import builtins
import re
import signal
from typing import Any

from grader.records import places
from grader.records.submission import Submission
from grader.records.syntax_errors import caret

MEMORY = ("can't allocate memory", "not enough memory", "DefaultCPUAllocator", "CUDA out of memory")
# raise ValueError("…") or assert …, "…", with a plain text and nothing behind it
OWN_TEXT = re.compile(r"""\s*(?:raise\s+[\w.]+\(\s*|assert\b[^'"]*,\s*)(["'])([^"'\\]*)\1\s*\)?\s*(?:#.*)?""")
MOST_LINES, WIDEST = 100_000, 400  # of a source, characters of a line in which such a text is looked for
SIGNALS: dict[int, str] = {
    signal.SIGSEGV: "Python itself crashed in it (segmentation fault)",
    signal.SIGABRT: "Python itself crashed in it (abort)",
    signal.SIGBUS: "Python itself crashed in it (bus error)",
    signal.SIGFPE: "Python itself crashed in it (arithmetic fault)",
    signal.SIGILL: "Python itself crashed in it (illegal instruction)",
    signal.SIGXCPU: "it used up its processor time, which looks like an infinite loop",
    signal.SIGKILL: "it was killed, probably for using too much memory",
    signal.SIGSYS: "it asked the system for something that graded code may not do",
}


def exception(facts: dict[str, Any], file: Submission, reveal: bool = True) -> list[str]:
    """An exception of the learner's: what, where, and the lines of their own file that led to it."""
    kind, text = str(facts.get("type", "Exception")), str(facts.get("message", ""))
    if kind == "PackageNotFoundError":
        head = f"{kind}: no package {facts.get('missing_module') or ''!r} is installed here, so it has no version"
    elif kind == "SystemExit":
        head = "your code ended the program (sys.exit or SystemExit): remove that line"
    elif is_about_memory(facts):
        head = "your code asked for more memory than the exercise allows"
    elif kind == "RecursionError":
        head = "RecursionError: a function calls itself without end"
    elif facts.get("missing_module"):
        head = f"{kind}: there is no module {facts['missing_module']!r} here. Use torch and the standard library"
    else:
        first_line = text.strip().splitlines()[0][:300] if text.strip() else ""
        head = f"{kind}: {first_line}" if first_line and (reveal or is_own_text(text, facts, file)) else kind
    lines = [head]
    if left_out := facts.get("left_out"):
        module = left_out.error.facts.get("missing_module")
        reason = f": there is no module {module!r} here" if module else ""
        lines.append(f"it comes from {places.place(file.source, left_out.line)}, which failed on loading{reason}")
    if name := _builtin_given(head, facts):
        lines.append(f"{name} is Python's own function here: what is the variable called that you mean?")
    frames = [tuple([*frame, "", ""][:3]) for frame in facts.get("frames") or []]
    for line, function, code in dict.fromkeys(frames):  # a comprehension has a frame of its own on the same line
        lines.append(
            places.in_file(file.source, file.filename, line)
            + (f" in {function}" if function and function != "<module>" else "")
        )
        if code:
            lines.append(f"    {code}")
            lines += _caret(kind, code, line, file.source)
    return lines


def _caret(kind: str, code: str, line: int, source: str) -> list[str]:
    """The line below the code of a syntax error, with a caret below what is wrong."""
    columns = caret(source, line) if kind in ("SyntaxError", "IndentationError") else []
    if not columns:
        return []
    text = source.splitlines()[line - 1] if line <= len(source.splitlines()) else ""
    indent = len(text) - len(text.lstrip())
    first, end = (min(column - indent, len(code)) for column in columns)
    return [f"    {' ' * max(first, 0)}{'^' * max(end - first, 1)}"] if first >= 0 else []


def _builtin_given(head: str, facts: dict[str, Any]) -> str:
    """The name of Python's own function that the line uses as a value, as `input` for `inputs`; "" where none is."""
    code = str(((facts.get("frames") or [[0, "", ""]])[-1] + ["", "", ""])[2])
    is_replaced = "not function" in head  # where the worker runs, input ends the call and is a function of ours
    if "builtin_function_or_method" not in head and not is_replaced:
        return ""
    names = re.findall(r"(?<![\w.])([a-z]+)\b(?!\s*[(\w=])", code)
    builtin_names = [name for name in names if isinstance(getattr(builtins, name, None), type(len))]
    if is_replaced:
        builtin_names = [name for name in builtin_names if name == "input"]
    return builtin_names[0] if len(set(builtin_names)) == 1 else ""


def is_own_text(text: str, facts: dict[str, Any], file: Submission) -> bool:
    """Whether the text of an exception is word for word a string on the learner's line that raised it.

    Then it holds no hidden input. An f-string, a variable or an escape may hold one.
    """
    number = ((facts.get("frames") or [[0]])[-1] or [0])[0]
    lines = file.source.split("\n", number)[:number] if 0 < number <= MOST_LINES else []
    match = OWN_TEXT.fullmatch(lines[-1].rstrip("\r")) if len(lines) == number and len(lines[-1]) <= WIDEST else None
    return bool(match and match[2] == text)


def is_about_memory(facts: dict[str, Any]) -> bool:
    """Whether what happened is that memory was asked for and not given."""
    text = str(facts.get("message", ""))
    return facts.get("type") == "MemoryError" or any(phrase in text for phrase in MEMORY)


def ending(status: int | None) -> str:
    """How a process ended, in words."""
    if status is not None and status < 0:
        return SIGNALS.get(-status, f"its process was ended by signal {-status}")
    if status == 0 or status is None:
        return "your code ended the whole process (os._exit?)"
    return f"your code ended the whole process with exit code {status} (os._exit, or a crash inside a library)"
