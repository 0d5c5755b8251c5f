"""Compares the sentence of a known mistake with the learner's file: it is false where the code that it names is absent.

A sentence names calls, dimensions and numbers. Those that the mistake's diff adds and does not remove are what the
learner is said to have written.
"""

import re
from functools import cache, lru_cache

from grader.judge.wrong_versions import WrongVersion

CODE = re.compile(r"\w+\.(\w+)|\b(\w+)\(|`(\w+)`|\b([a-z]+_\w*|\w+_[a-z]\w*)\b")  # torch.zeros, len(…), masked_fill
CALL = re.compile(r"\b(\w+)(?:\(|=(?=[^\s=]))")  # in code, or an argument by its name
NUMBER = re.compile(r"(?<![\w.^√])[-−]?\d[\d,]*(?:\.\d+)?(?!\w)")
DIMS = re.compile(r"\b[Dd]im(?:ension)?s? ((?:[-−]?\d|zero|one|two|three)(?: and [-−]?\d)?)\b")
WORDS_FOR_NUMBERS = {"zero": "0", "one": "1", "two": "2", "three": "3"}
LEAST_DIGITS = 2  # of a number that is no dimension: others are words of the language, as in “sums to 1”
COMMENT = re.compile(r'"""[\s\S]*?"""|#.*')  # and what a docstring says
NUMBER_IN_CODE = re.compile(r"(?:(?<![\w)\]]) ?-)?(?<![\w.])\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?")  # with its sign


def contradicted(version: WrongVersion, source: str) -> bool:
    """Whether a sentence names code that the source does not hold; of two mistakes, one of their sentences."""
    return any(_claims(one) - _words(source) for one in version.parts or (version,))


def support(version: WrongVersion, source: str) -> tuple[float, int]:
    """How much of a mistake's diff the source holds, and how many of the words that only the diff adds.

    The share is from 0 to 2: of the words that the diff adds, and not of the others.
    """
    written, (added, removed) = _words(source), (_words(lines) for lines in _diff(version))
    new, gone = added - removed, removed - added
    return 1 + _share(new or added, written) - _share(gone, written), len(new & written)


def _share(words: frozenset[str], written: frozenset[str]) -> float:
    return len(words & written) / len(words) if words else 0.0


@cache
def _claims(version: WrongVersion) -> frozenset[str]:
    """The calls and numbers in the sentence that the mistake's lines have and the solution's in their place do not."""
    added, removed = ({*CALL.findall(code), *_numbers(code)} for code in _diff(version))
    return frozenset((added - removed) & named(version.sentence))


def _diff(version: WrongVersion) -> list[str]:
    """The code that a mistake adds, and what it removes."""
    lines = [line for one in version.parts or (version,) for line in one.changes]
    return [COMMENT.sub("", "\n".join(line[1:] for line in lines if line.startswith(sign))) for sign in "+-"]


def named(sentence: str) -> set[str]:
    """The names of code, the dimensions and the numbers in a sentence."""
    names = {name for match in CODE.finditer(sentence) for name in match.groups() if name}
    dims = [word for phrase in DIMS.findall(sentence) for word in phrase.split(" and ")]
    numbers = [text for text in NUMBER.findall(sentence) if sum(map(str.isdigit, text)) >= LEAST_DIGITS]
    return names | {_number(WORDS_FOR_NUMBERS.get(text, text)) for text in dims + numbers}


@lru_cache(16)
def _words(source: str) -> frozenset[str]:
    """The names and numbers in a file, without its comments and docstrings."""
    code = COMMENT.sub("", source)
    return frozenset(re.findall(r"[A-Za-z_]\w*", code)) | _numbers(code)


def _numbers(code: str) -> frozenset[str]:
    return frozenset(map(_number, NUMBER_IN_CODE.findall(code)))


def _number(text: str) -> str:
    """One form for equal numbers: 10,000 and 1e4."""
    return f"{float(re.sub('[,_ ]', '', text.replace('−', '-'))):g}"
