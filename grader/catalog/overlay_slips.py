"""Finds the slips that make a mistake useless: code that cannot run, and a sentence that gives the solution away."""

import ast
import builtins
import re
import symtable
from collections.abc import Iterator

from grader.catalog import overlay
from grader.catalog.overlay import Refusal

MAX_SHARED = 5  # names, numbers and operators in a row that a sentence may share with the lines that a mistake changes
TOKEN = re.compile(r"\w+|[@/*+=<>-]")  # brackets, dots and commas do not count: `x.shape[1]` gives nothing away
MODULE_NAMES = {"__file__", "__name__", "__doc__"}


def slips(solution: str, text: str) -> Iterator[Refusal]:
    """The reasons why a mistake that fits the solution names no mistake of a learner's. text: the overlay."""
    names = _undefined(overlay.compose(solution, text))
    for name, line in _places(text):
        if name in names:
            yield Refusal(line, f"{name} is not defined there, so this fails with a NameError: import or define it")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Import, ast.ImportFrom)) and (error := _import_error(node)):
            yield Refusal(node.lineno, f"this import fails ({error}), and with it whatever follows")
    sentence = overlay.sentence(text)
    if _is_code(sentence):
        yield Refusal(1, "the sentence is code: say in words what is wrong and where to look")
    elif shared := _shared(sentence, _changed_code(solution, text)):
        yield Refusal(1, f"the sentence holds the solution, `{shared}`: say what is wrong, not what to write")


def _undefined(source: str) -> set[str]:
    """The names that functions of the source read, and that neither the source nor Python defines."""
    table = symtable.symtable(source, "mistake", "exec")
    defined = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    defined |= {child.get_name() for child in table.get_children()} | vars(builtins).keys() | MODULE_NAMES
    waiting, used = [table], set()
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        used |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global() and symbol.is_referenced()}
    return used - defined


def _places(text: str) -> Iterator[tuple[str, int]]:
    """Each name that the overlay reads, with its first line."""
    names = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    first_lines: dict[str, int] = {}
    for node in sorted(names, key=lambda node: node.lineno):
        first_lines.setdefault(node.id, node.lineno)
    return iter(first_lines.items())


def _import_error(node: ast.Import | ast.ImportFrom) -> str:
    """The error of an import, "" where it works. It is run: overlays are the authors' own."""
    try:
        exec(compile(ast.Module([node], []), "mistake", "exec"), {})
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _is_code(sentence: str) -> bool:
    """True if the sentence is Python, of more than a name or two."""
    try:
        tree = ast.parse(sentence.rstrip(".?! "))
    except (SyntaxError, ValueError):
        return False
    return any(not isinstance(node, (ast.Module, ast.Expr, ast.Name, ast.Load)) for node in ast.walk(tree))


def _changed_code(solution: str, text: str) -> list[str]:
    """The lines of the solution that the mistake replaces, or leaves out."""
    return [line[1:] for line in overlay.difference(solution, text) if line.startswith("-")]


def _shared(sentence: str, code: list[str]) -> str:
    """The beginning of a row of tokens that sentence and code share, if it is too long, otherwise ""."""
    words = TOKEN.findall(sentence)
    for line in code:
        tokens = TOKEN.findall(re.sub(r"\s#.*", "", line))
        rows = {tuple(tokens[i : i + MAX_SHARED + 1]) for i in range(len(tokens) - MAX_SHARED)}
        for i in range(len(words) - MAX_SHARED):
            if tuple(words[i : i + MAX_SHARED + 1]) in rows:
                return " ".join(words[i : i + MAX_SHARED + 1])
    return ""
