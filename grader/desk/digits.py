"""Compares a printed value with the lesson's, number by number and digit by digit."""

import ast
import math
import re
from dataclasses import dataclass

NUMBER = re.compile(r"(?<![\w.])-?(?:\d[\d_]*(?:\.\d*)?(?:e[+-]?\d+)?|inf\b|nan\b|(?<!=)(?:True|False)\b)(?![\w])")
WORDS = ("True", "False")
LEFT_OUT = re.compile(r",\s*(?:grad_fn=<\w+>|requires_grad=True)|Parameter containing:\s*")
NOISE = 1e-6  # of a number: what two right ways of computing it differ by


@dataclass(frozen=True)
class Comparison:
    """mine, theirs: pieces of text, each with whether it is as in the other one; note: what differs as a whole."""

    mine: tuple[tuple[str, bool], ...]
    theirs: tuple[tuple[str, bool], ...]
    note: str = ""

    @property
    def is_equal(self) -> bool:
        """Whether nothing differs."""
        return not self.note and all(agrees for _, agrees in self.mine)


def compare(text: str, exact: str, lesson: str) -> Comparison:
    """Compare a value with the lesson's.

    text: the value as Python prints it; exact: the same with all digits; lesson: with as many digits as it pleases.
    A number is equal where it is the lesson's after rounding to the lesson's digits.
    """
    if _skeleton(exact) != _skeleton(lesson):
        return Comparison(((text, False),), ((lesson, True),), _note(exact, lesson))
    numbers = iter(NUMBER.findall(LEFT_OUT.sub("", exact)))
    digits = max((len(number.partition(".")[2]) for number in NUMBER.findall(lesson)), default=0)
    own_pieces, lesson_pieces, end = [], [], 0
    for match in NUMBER.finditer(lesson):
        between = lesson[end : match.start()]
        own_text, is_equal = _rounded(next(numbers), match[0], digits)
        own_pieces += [(_fitted(between, len(own_text) - len(match[0])), True), *_marked(own_text, match[0], is_equal)]
        lesson_pieces += [(between, True), (match[0], True)]
        end = match.end()
    lesson_end = (lesson[end:], True)
    return Comparison((*own_pieces, lesson_end), (*lesson_pieces, lesson_end))


def shape(text: str) -> tuple[int, ...] | None:
    """The shape of a printed tensor, None for another value."""
    if not text.startswith("tensor("):
        return None
    try:
        values = ast.literal_eval(re.match(r"tensor\((.*?)(?:, \w+=.*)?\)$", NUMBER.sub("0", text), re.S)[1])
    except (SyntaxError, ValueError, TypeError):
        return None
    sizes = []
    while isinstance(values, list):
        sizes.append(len(values))
        values = values[0] if values else 0
    return tuple(sizes)


def _rounded(own_text: str, lesson: str, digits: int) -> tuple[str, bool]:
    """My number with as many digits as the lesson's, and whether it is the same. digits: beside inf."""
    if own_text in WORDS or lesson in WORDS:
        return own_text, own_text == lesson
    value, lesson_value = float(own_text), float(lesson)
    if not math.isfinite(lesson_value):
        is_equal = value == lesson_value or own_text == lesson
        return (lesson if is_equal else f"{value:.{digits}f}"), is_equal
    if "." not in lesson or not math.isfinite(value):
        return (lesson, True) if value == lesson_value else (own_text, False)
    digits = len(lesson.partition(".")[2])
    if abs(value - lesson_value) <= 0.5 * 10**-digits + NOISE * abs(lesson_value):
        return lesson, True
    rounded_text = f"{value:.{digits}f}" + "." * lesson.endswith(".")
    return (own_text if rounded_text == lesson else rounded_text), False


def _fitted(between: str, longer: int) -> str:
    """The text before a number that is `longer` than the lesson's (below 0: shorter), so that columns stay aligned."""
    stripped = between.rstrip(" ")
    spaces = len(between) - len(stripped)
    least = 1 if stripped[-1:] in (",", ":") else 0
    return stripped + " " * max(spaces - longer, min(spaces, least))


def _marked(own_text: str, lesson: str, is_equal: bool) -> list[tuple[str, bool]]:
    """A number in two pieces: the digits that are the lesson's, and those from the first other one on."""
    if is_equal:
        return [(own_text, True)]
    first = next((place for place, pair in enumerate(zip(own_text, lesson)) if pair[0] != pair[1]), len(lesson))
    if len(own_text.partition(".")[0]) != len(lesson.partition(".")[0]) or own_text in WORDS:
        first = 0  # 14.5 has no digit in common with 1.45
    pieces = [(own_text[:first], True), (own_text[first:], False)]
    return [piece for piece in pieces if piece[0]]


def _skeleton(text: str) -> str:
    """The text between the numbers, without spaces."""
    return "".join(NUMBER.sub("#", LEFT_OUT.sub("", text)).split())


def _note(own_text: str, lesson: str) -> str:
    """The difference in words, where more than the numbers differs."""
    shapes = shape(LEFT_OUT.sub("", own_text)), shape(lesson)
    if None not in shapes:
        return f"yours has the shape {shapes[0]}, the lesson's {shapes[1]}" if shapes[0] != shapes[1] else ""
    kinds = [_literal(text) for text in (own_text, lesson)]
    if None in kinds or type(kinds[0]) is not type(kinds[1]):
        return "yours is another kind of value"
    if isinstance(kinds[0], (list, tuple, dict)) and len(kinds[0]) != len(kinds[1]):
        return f"yours has {len(kinds[0])} entries, the lesson's {len(kinds[1])}"
    return ""


def _literal(text: str) -> object:
    """The value that a text stands for, None where it is no literal."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return None
