"""Fingerprints of a source that do not depend on names, formatting, comments, docstrings and annotations.

Winnowing (Schleimer, Wilkerson, Aiken: "Winnowing: local algorithms for document fingerprinting", SIGMOD 2003) over
the syntax tree: the tokens of each function form grams of GRAM tokens, and of each WINDOW grams the one with the
smallest hash is a fingerprint. Two sources that share GRAM + WINDOW - 1 tokens in a row share a fingerprint. No gram
spans two functions, so the order of functions does not count either.

Written by hand: MOSS sends hand-ins to a server, JPlag needs Java, and Python's libraries compare texts, not trees.
"""

import ast
import hashlib
import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from grader.catalog.errors import BadSubmission
from grader.classroom.similar.tokens import tokens
from grader.records.limited import limited
from grader.records.syntax import imported, parsed, statements

GRAM, WINDOW = 10, 3
MOST = 5_000  # fingerprints of one source; an honest one has some hundred


@dataclass(frozen=True, order=True, slots=True)
class Lines:
    """The place of a fingerprint: its first and last line."""

    first: int
    last: int

    def joined(self, other: "Lines") -> "Lines":
        """From the first line of either to the last line of either."""
        return Lines(min(self.first, other.first), max(self.last, other.last))

    def __str__(self) -> str:
        return f"line {self.first}" if self.first == self.last else f"lines {self.first} to {self.last}"


def fingerprints(source: str) -> dict[int, Lines]:
    """The fingerprints of a source, with the first place of each; {} where it is not Python or exceeds a limit.

    A source with more than MOST fingerprints has its smallest ones here, so that equal sources have the same ones.
    """
    try:
        return {print_: Lines(first, last) for print_, first, last in _fingerprints(source)}
    except BadSubmission:
        return {}


@limited
def _fingerprints(source: str) -> list[tuple[int, int, int]]:
    tree = parsed(source)
    if tree is None:
        return []
    names = imported(statements(tree))  # so that `F` is known to be torch.nn.functional
    places: dict[int, Lines] = {}
    for body in _units(tree):
        for print_, lines in _winnowed(tokens(body, names)):
            places.setdefault(print_, lines)
    return [(print_, places[print_].first, places[print_].last) for print_ in heapq.nsmallest(MOST, places)]


def _winnowed(tokens_and_lines: list[tuple[str, int]]) -> Iterator[tuple[int, Lines]]:
    """The hash and the lines of each gram that winnowing keeps."""
    encoded_tokens = [token.encode("utf-8", "replace") for token, _ in tokens_and_lines]
    grams = []
    for start in range(len(encoded_tokens) - GRAM + 1):
        text = b" ".join(encoded_tokens[start : start + GRAM])
        grams.append((hashlib.blake2b(text, digest_size=8).digest(), -start))
    for start in range(max(len(grams) - WINDOW + 1, min(len(grams), 1))):
        smallest, place = min(grams[start : start + WINDOW])  # of equal ones the last
        hashed, place = int.from_bytes(smallest, "big"), -place
        lines = [line for _, line in tokens_and_lines[place : place + GRAM] if line]
        yield hashed, Lines(min(lines), max(lines))


def _units(tree: ast.Module) -> list[list[ast.stmt]]:
    """The statements of each function, and the other statements of each class and of the module."""
    units: list[list[ast.stmt]] = []
    bodies = [tree.body]
    while bodies:
        rest: list[ast.stmt] = []
        for statement in bodies.pop():
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                units.append([statement])
            elif isinstance(statement, ast.ClassDef):
                bodies.append(statement.body)
            elif not isinstance(statement, (ast.Import, ast.ImportFrom)):
                rest.append(statement)
        units.append(rest)
    return units
