"""Patches: how a known mistake differs from the solution, as the hunks of a diff.

A hunk names one function or method, or the imports. Its lines follow as in a unified diff: `-` is taken out, `+` comes
in, and a space marks a line that stays. The lines with `-` and the space must appear exactly once, together, in the
definition; its docstring and its `# Task` comments do not count.
"""

import ast
import difflib
import functools
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.catalog.errors import BadLine

IMPORTS = "imports"  # what a hunk names that adds imports
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
IMPORT = (ast.Import, ast.ImportFrom)
SIMILAR = 0.6  # from which ratio on a line of the solution is offered for one that is not found
POWER = re.compile(r"[\w.\[\]-]* *\*{1,2} *-?[\d.]*")  # its base or the end of it, its sign or half of it, its exponent
TOKEN = re.compile(r"\w+|\n *|[^\w\n]")
Function = ast.FunctionDef | ast.AsyncFunctionDef
Edit = tuple[int, int, tuple[str, ...]]  # first line or token, end (exclusive), what replaces them


@dataclass(frozen=True)
class Hunk:
    """One change of one definition.

    definition: "softmax", "SelfAttention.forward", or "imports"; lines: each begins with "-", "+" or a space;
    path, line: the file of mistakes, and where the hunk's heading is in it.
    """

    definition: str
    lines: tuple[str, ...]
    path: Path
    line: int

    @property
    def old(self) -> list[str]:
        """The lines of the solution."""
        return [line[1:] for line in self.lines if line[0] != "+"]

    @property
    def new(self) -> list[str]:
        """The lines that replace them."""
        return [line[1:] for line in self.lines if line[0] != "-"]

    def refused(self, reason: str, number: int = 0) -> BadLine:
        """The error for one of its lines, by its number; 0 is the heading."""
        return BadLine(self.path, self.line + number, reason)


def apply(solution: str, hunks: Sequence[Hunk]) -> str:
    """The solution's source with the changes of all hunks. Raises BadLine."""
    lines = solution.split("\n")
    originals = definitions(solution)
    edits: dict[str, list[Edit]] = {}
    for hunk in hunks:
        if hunk.definition == IMPORTS:
            if not all(line.startswith(("+import ", "+from ")) for line in hunk.lines):
                raise hunk.refused("a hunk of imports adds import statements and nothing else")
        elif hunk.definition not in originals:
            raise hunk.refused(f"the solution has no function or method {hunk.definition}")
        else:
            edit = _find(hunk, bare_lines(lines, originals[hunk.definition]))
            for start, end, _ in edits.setdefault(hunk.definition, []):
                if edit[0] < end and start < edit[1]:
                    raise hunk.refused("it changes the same lines as another hunk")
            edits[hunk.definition].append(edit)
    texts = {name: _edit(bare_lines(lines, originals[name]), of_definition) for name, of_definition in edits.items()}
    imports = [line for hunk in hunks if hunk.definition == IMPORTS for line in hunk.new]
    source = _replace(solution, texts, imports)
    try:
        parse(source)
    except SyntaxError as error:
        raise hunks[0].refused(f"the changed code is no Python: {error.msg}") from None
    if other := originals.keys() ^ definitions(source).keys():
        raise hunks[0].refused(f"it renames, adds or removes a definition: {', '.join(sorted(other))}")
    return source


@functools.lru_cache(4096)
def merge(solution: str, first: str, second: str) -> str | None:
    """The solution's source with the changes of two patched sources, token by token.

    None if they change the same tokens, or are the same. Raises SyntaxError if one of the three cannot be read.
    """
    originals, versions = definitions(solution), [_changed(solution, source) for source in (first, second)]
    texts = {}
    for name in versions[0] | versions[1]:
        chosen = [version[name] for version in versions if name in version]
        text = chosen[0] if len(chosen) == 1 else _merge(normal(originals[name]), *chosen)
        if text is None:
            return None
        texts[name] = textwrap.indent(text, "    " * name.count(".")).split("\n")
    imports = dict.fromkeys(line for source in (first, second) for line in _imports(source))
    return _replace(solution, texts, [line for line in imports if line not in _imports(solution)])


@functools.lru_cache(2048)
def parse(source: str) -> ast.Module:
    """The syntax tree of a source. Raises SyntaxError."""
    return ast.parse(source)


@functools.lru_cache(2048)
def definitions(source: str) -> dict[str, Function]:
    """The functions and methods of a source: "softmax", "SelfAttention.forward". Raises SyntaxError."""
    found: dict[str, Function] = {}
    for node in parse(source).body:
        if isinstance(node, FUNCTION):
            found[node.name] = node
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{item.name}": item for item in node.body if isinstance(item, FUNCTION)}
    return found


def bare_lines(lines: Sequence[str], node: Function) -> list[str]:
    """The lines of a definition without its docstring and its `# Task` comments."""
    start, end = span(node)
    docstring = range(*span(node.body[0])) if ast.get_docstring(node, clean=False) is not None else ()
    remaining = [lines[number] for number in range(start, end) if number not in docstring]
    return [line for line in remaining if not line.lstrip().startswith("# Task")]


@functools.lru_cache(2048)
def normal(node: Function) -> str:
    """A definition in one formatting, without comments and its docstring."""
    copy = ast.parse(ast.unparse(node)).body[0]
    if isinstance(copy, FUNCTION) and ast.get_docstring(copy, clean=False) is not None:
        copy.body = copy.body[1:] or [ast.Pass()]
    return ast.unparse(copy)


def span(node: ast.stmt) -> tuple[int, int]:
    """The first line, with decorators, and the one after the last, counted from 0."""
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1, node.end_lineno or node.lineno


def _find(hunk: Hunk, lines: list[str]) -> Edit:
    """Where the hunk applies in the lines of its definition. Raises BadLine unless that is exactly one place."""
    old = hunk.old
    if not old:
        raise hunk.refused("it holds no line of the solution, so its place is unknown: add one in front")
    places = [start for start in range(len(lines)) if lines[start : start + len(old)] == old]
    if len(places) == 1:
        return places[0], places[0] + len(old), tuple(hunk.new)
    if places:
        raise hunk.refused(f"its lines appear {len(places)} times in {hunk.definition}: add a line before or after")
    for number, text in enumerate(hunk.lines, 1):
        if text[0] != "+" and text[1:] not in lines:
            near = difflib.get_close_matches(text[1:], lines, 1, SIMILAR)
            nearest = f"; the nearest is {near[0].strip()}" if near else ""
            raise hunk.refused(f"{hunk.definition} has no line {text[1:].strip()}{nearest}", number)
    raise hunk.refused(f"its lines do not follow each other in {hunk.definition}")


def _edit(items: Sequence[str], edits: Iterable[Edit]) -> list[str]:
    """The lines, or tokens, with all edits made."""
    result = list(items)
    for start, end, new in sorted(edits, reverse=True):
        result[start:end] = new
    return result


def _replace(solution: str, texts: Mapping[str, list[str]], imports: list[str]) -> str:
    """The solution's source with other lines for some definitions, and more imports."""
    lines, tree = solution.split("\n"), parse(solution)
    heads = [node for node in tree.body if isinstance(node, IMPORT)] or tree.body[: bool(ast.get_docstring(tree))]
    after = max((span(node)[1] for node in heads), default=0)
    edits = [(*span(node), tuple(texts[name])) for name, node in definitions(solution).items() if name in texts]
    return "\n".join(_edit(lines, [*edits, (after, after, tuple(imports))]))


def _merge(base: str, first: str, second: str) -> str | None:
    """A definition with the changes of both versions; None if they overlap or give no valid definition.

    Where they change two parts of one power, as in `d ** 0.5`, the text makes neither mistake.
    """
    if first == second:
        return None
    first_edits, second_edits = _token_edits(base, first), _token_edits(base, second)
    tokens = TOKEN.findall(base)
    for a, b, _ in first_edits:
        for c, d, _ in second_edits:
            of_one_power = POWER.fullmatch("".join(tokens[min(a, c) : max(b, d)]))
            if (a < d and c < b) or a == c or of_one_power:
                return None
    text = "".join(_edit(tokens, first_edits + second_edits))
    try:
        ast.parse(text)
    except SyntaxError:
        return None
    return None if text in (first, second) else text


@functools.lru_cache(1024)
def _token_edits(base: str, version: str) -> list[Edit]:
    """The edits that turn the base into the version."""
    old, new = TOKEN.findall(base), TOKEN.findall(version)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return [(a, b, tuple(new[c:d])) for kind, a, b, c, d in matcher.get_opcodes() if kind != "equal"]


@functools.lru_cache(1024)
def _imports(source: str) -> tuple[str, ...]:
    """The import statements of a source."""
    return tuple(ast.unparse(node) for node in parse(source).body if isinstance(node, IMPORT))


@functools.lru_cache(1024)
def _changed(solution: str, source: str) -> dict[str, str]:
    """The definitions of a patched source that differ from the solution's, each in one formatting."""
    lines, new_lines, originals = solution.split("\n"), source.split("\n"), definitions(solution)
    return {
        name: normal(node)
        for name, node in definitions(source).items()
        if name in originals and bare_lines(new_lines, node) != bare_lines(lines, originals[name])
    }
