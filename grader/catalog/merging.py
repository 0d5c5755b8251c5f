"""Merges the overlays of two mistakes into one that contains both, as in the file of a learner who made both."""

import ast
import difflib
import functools
import re
import textwrap
from types import MappingProxyType

from grader.catalog import overlay
from grader.catalog.overlay import FUNCTION, IMPORT, Function

TOKEN = re.compile(r"\w+|\n *|[^\w\n]")
Edit = tuple[int, int, tuple[str, ...]]  # first token, end (exclusive), new tokens


@functools.lru_cache(4096)
def merged(solution: str, first: str, second: str) -> str | None:
    """The overlay with the changes of both, token by token; None where they touch the same tokens or are the same.

    Raises SyntaxError where one of the three cannot be read.
    """
    originals, changes = _codes(solution), [_codes(text) for text in (first, second)]
    texts = {}
    for name in changes[0] | changes[1]:
        versions = [changed[name] for changed in changes if name in changed]
        text = versions[0] if len(versions) == 1 else _both(originals[name], *versions)
        if text is None:
            return None
        texts[name] = text
    imports = dict.fromkeys(_imports(first) + _imports(second))
    parts = [*imports]
    for name, text in texts.items():
        home, _, method = name.rpartition(".")
        parts.append(f"class {home}:\n{textwrap.indent(text, '    ')}" if method and home else text)
    return "\n\n\n".join(parts) + "\n"


def _both(base: str, first_version: str, second_version: str) -> str | None:
    """A definition with the changes of both versions; None where they overlap or give no valid definition."""
    if first_version == second_version:
        return None
    tokens = TOKEN.findall(base)
    first_edits, second_edits = _edits(base, first_version), _edits(base, second_version)
    if any((a < d and c < b) or a == c for a, b, _ in first_edits for c, d, _ in second_edits):
        return None
    for start, end, new in sorted(first_edits + second_edits, reverse=True):
        tokens[start:end] = new
    text = "".join(tokens)
    try:
        ast.parse(text)
    except SyntaxError:
        return None
    return None if text in (first_version, second_version) else text


@functools.lru_cache(1024)
def _edits(base: str, version: str) -> list[Edit]:
    """The edits that turn the base into the version."""
    old_tokens, new_tokens = TOKEN.findall(base), TOKEN.findall(version)
    matcher = difflib.SequenceMatcher(None, old_tokens, new_tokens, autojunk=False)
    return [(a, b, tuple(new_tokens[c:d])) for kind, a, b, c, d in matcher.get_opcodes() if kind != "equal"]


@functools.lru_cache(1024)
def _imports(text: str) -> tuple[str, ...]:
    """The import statements of an overlay."""
    return tuple(ast.unparse(node) for node in ast.parse(text).body if isinstance(node, IMPORT))


@functools.lru_cache(1024)
def _codes(text: str) -> MappingProxyType[str, str]:
    """Each definition of a solution or an overlay in one formatting. A text is one of many pairs."""
    return MappingProxyType({name: _code(node) for name, node in overlay.definitions(text).items()})


def _code(node: Function) -> str:
    """A definition in one formatting, without comments and its docstring."""
    copy = ast.parse(ast.unparse(node)).body[0]
    if isinstance(copy, FUNCTION) and ast.get_docstring(copy, clean=False) is not None:
        copy.body = copy.body[1:] or [ast.Pass()]
    return ast.unparse(copy)
