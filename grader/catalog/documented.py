"""The numbers that the source documents print, read from each exercise.toml."""

import ast
import functools
import re
from dataclasses import dataclass

import torch

from grader.catalog import paths
from grader.catalog.errors import AuthorError
from grader.catalog.project import read_toml

NUMBER = re.compile(r"-?\d+(?:\.(\d*))?(?:e[+-]?\d+)?|-?\binf\b")
INTEGRAL = 0.5e-4  # torch prints "1." for 1.0000, so these numbers are exact to four digits


@dataclass(frozen=True)
class Printed:
    """Numbers as a document prints them, each exact to half of its last digit.

    value: a float64 tensor, a tuple of ints (a shape), or a dict; tolerance: a tensor of value's shape, or None.
    """

    id: str
    value: object
    tolerance: object


class Numbers(dict[str, Printed]):
    """The numbers of one check by id. read: a set to which the id of each number is added when it is read."""

    def __init__(self, numbers: dict[str, Printed], read: set[str]):
        super().__init__(numbers)
        self.read = read

    def __getitem__(self, name: str) -> Printed:
        self.read.add(name)
        return super().__getitem__(name)


@dataclass(frozen=True)
class DocumentedNumber:
    """One printed number, tensor, shape or dict, and its place in a document."""

    id: str
    source: str  # the document's name
    place: str  # its cell or section
    check: str
    printed: str  # the digits as printed

    @property
    def data(self) -> Printed:
        """The printed digits as numbers, each with half of its last digit as tolerance. Raises ValueError."""
        return parse(self.id, self.printed.strip())


@functools.cache
def numbers(folder: str) -> tuple[DocumentedNumber, ...]:
    """The documented numbers of one exercise, in the order of its exercise.toml. Raises TypeError."""
    return tuple(DocumentedNumber(**entry) for entry in read_toml(paths.exercise_toml(folder)).get("number", []))


def of_check(folder: str, check: str, read: set[str]) -> Numbers:
    """The numbers that one check compares with, by id. read: see Numbers. Raises AuthorError if one is malformed."""
    try:
        return Numbers({number.id: number.data for number in numbers(folder) if number.check == check}, read)
    except ValueError as error:
        raise AuthorError(f"{paths.shown(paths.exercise_toml(folder))}: {error}") from None


@functools.cache
def parse(name: str, printed: str) -> Printed:
    """Printed digits as data: "[0.1385, 1.]" is a tensor, "(6, 2)" a shape, "{…}" a dict.

    inf and -inf are numbers too. Raises ValueError where the text is none of these. name: the id, for the message.
    """
    try:
        value = ast.literal_eval(re.sub(r"\binf\b", "1e999", printed))
        tolerance = ast.literal_eval(NUMBER.sub(_tolerance, printed)) if "{" not in printed else None
    except (SyntaxError, ValueError):
        forms = "write digits, inf or -inf, in brackets as torch prints them"
        raise ValueError(f"{name}: not numbers ({forms}): {printed[:60]}") from None
    if isinstance(value, (tuple, dict)):
        return Printed(name, value, None)
    return Printed(name, torch.tensor(value, dtype=torch.float64), torch.tensor(tolerance, dtype=torch.float64))


def _tolerance(match: re.Match[str]) -> str:
    """Half of the last digit of a printed number; 0 for an integer and for inf."""
    decimals = match.group(1)
    if decimals is None:
        return "0.0"
    return repr(0.5 * 10.0 ** -len(decimals) if decimals else INTEGRAL)
