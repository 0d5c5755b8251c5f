"""Finds the slips that make a mistake useless: code that cannot run, and a sentence that gives the solution away."""

import ast
import builtins
import re
import symtable
from collections.abc import Iterator

from grader.catalog.mistakes import Mistake
from grader.catalog.patches import IMPORTS, BadPatch

MAX_SHARED = 5  # names, numbers and operators in a row that a sentence may share with the lines that a mistake changes
TOKEN = re.compile(r"\w+|[@/*+=<>-]")  # brackets, dots and commas do not count: `x.shape[1]` gives nothing away
MODULE_NAMES = {"__file__", "__name__", "__doc__"}


def slips(mistake: Mistake) -> Iterator[BadPatch]:
    """The reasons why a mistake that applies to the solution names no mistake of a learner's."""
    source = mistake.compose()
    for name in sorted(_undefined(source) - _undefined(mistake.solution)):
        reason = f"{name} is not defined there, so this fails with a NameError: import or define it"
        yield BadPatch(_line_of(mistake, name), reason)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Import, ast.ImportFrom)) and (error := _import_error(node)):
            line = next((hunk.line for hunk in mistake.hunks if hunk.definition == IMPORTS), mistake.line)
            yield BadPatch(line, f"`{ast.unparse(node)}` fails ({error}), and with it whatever follows")
    if _is_code(mistake.sentence):
        yield BadPatch(mistake.line + 1, "the sentence is code: say in words what is wrong and where to look")
    elif shared := _shared(mistake.sentence, [line[1:] for line in mistake.changes if line.startswith("-")]):
        reason = f"the sentence holds the solution, `{shared}`: say what is wrong, not what to write"
        yield BadPatch(mistake.line + 1, reason)


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


def _line_of(mistake: Mistake, name: str) -> int:
    """The first line of the diff that brings this name in."""
    for hunk in mistake.hunks:
        for number, line in enumerate(hunk.lines, 1):
            if line.startswith("+") and re.search(rf"\b{re.escape(name)}\b", line):
                return hunk.line + number
    return mistake.line


def _import_error(node: ast.Import | ast.ImportFrom) -> str:
    """The error of an import, "" where it works. It is run: mistakes are the authors' own."""
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
