"""The known mistakes of an exercise, `solutions/NN_slug/mistakes.md`, and the checks that each of them fails.

The file has a heading `#` for each misconception, a heading `##` for each mistake, the sentence that the learner reads,
and the change as a fenced diff (patches.py):

    # dropout

    ## dropout_always_one_half
    The rate of dropout is not passed on: nn.Dropout() drops one half.

    ```diff
    @@ CausalAttention.__init__ @@
    -        self.dropout = nn.Dropout(dropout)
    +        self.dropout = nn.Dropout()
    ```
"""

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from grader.catalog import patches, paths
from grader.catalog.errors import InfrastructureError
from grader.catalog.patches import BadPatch, Hunk

NAME = re.compile(r"[a-z][a-z0-9_]*")
HUNK = re.compile(r"@@ (\S+) @@")
FAILED, NOT_CHECKED, PASSED = "x", "-", "."  # the mark of a check in failed_checks.json


class BadMistake(InfrastructureError):
    """A mistake that cannot be read or does not fit the solution. The text names file, line, reason and what to type.

    path, line, reason: the same, for those who show them in another form.
    """

    def __init__(self, path: Path, line: int, reason: str):
        super().__init__(f"{paths.shown(path)}:{line}: {reason}. See all: make verify")
        self.path, self.line, self.reason = path, line, reason


@dataclass(frozen=True)
class Mistake:
    """One known mistake.

    misconception: the id of what it shows; sentence: what the learner reads; hunks: how it differs from the solution;
    line: of its heading in the file.
    """

    name: str
    misconception: str
    sentence: str
    hunks: tuple[Hunk, ...]
    path: Path
    line: int
    solution: str = field(repr=False)

    def compose(self) -> str:
        """The whole file that makes this mistake. Raises BadMistake."""
        try:
            return patches.apply(self.solution, self.hunks)
        except BadPatch as error:
            raise BadMistake(self.path, error.line, error.reason) from None

    @cached_property
    def source(self) -> str:
        """The same, made once."""
        return self.compose()

    @property
    def definitions(self) -> tuple[str, ...]:
        """The functions and methods that it changes."""
        names = dict.fromkeys(hunk.definition for hunk in self.hunks)
        return tuple(name for name in names if name != patches.IMPORTS)

    @property
    def changes(self) -> list[str]:
        """The hunks as lines of a diff."""
        return [line for hunk in self.hunks for line in (f"@@ {hunk.definition} @@", *hunk.lines)]


@dataclass(frozen=True)
class NotPassed:
    """The checks that a mistake does not pass: those that failed, and those that were not run for that reason."""

    failed: tuple[str, ...]
    not_checked: tuple[str, ...] = ()

    @property
    def checks(self) -> frozenset[str]:
        """All checks that are not passed."""
        return frozenset(self.failed + self.not_checked)


def mistakes(folder: str) -> tuple[Mistake, ...]:
    """The known mistakes of an exercise in alphabetical order; () if there is no such file. Raises BadMistake."""
    path = paths.mistakes(folder)
    if not path.exists():
        return ()
    return read(path, path.read_text("utf-8"), paths.solution(folder).read_text("utf-8"))


def find(folder: str, name: str) -> Mistake:
    """One known mistake by its name. Raises BadMistake, and KeyError if there is none."""
    for mistake in mistakes(folder):
        if mistake.name == name:
            return mistake
    raise KeyError(name)


@functools.lru_cache(64)
def read(path: Path, text: str, solution: str) -> tuple[Mistake, ...]:
    """The mistakes in the text of a file, in alphabetical order. Raises BadMistake."""
    found: dict[str, Mistake] = {}
    misconception = ""
    lines = text.split("\n")
    heads = [number for number, line in enumerate(lines) if re.match(r"##? ", line)]
    for number, end in zip(heads, [*heads[1:], len(lines)], strict=True):
        mark, _, name = lines[number].partition(" ")
        if mark == "#":
            misconception = name.strip()
            continue
        name = name.strip()
        if not NAME.fullmatch(name):
            raise BadMistake(path, number + 1, f"“{name}” is no name for a mistake: write it like_this")
        if name in found:
            raise BadMistake(path, number + 1, f"there is another mistake {name} in line {found[name].line}")
        if not misconception:
            raise BadMistake(path, number + 1, f"{name} comes before the first heading `# misconception`")
        sentence, hunks = _parts(path, lines, number + 1, end)
        found[name] = Mistake(name, misconception, sentence, hunks, path, number + 1, solution)
    return tuple(found[name] for name in sorted(found))


def failed_checks(folder: str) -> dict[str, NotPassed]:
    """The checks that each mistake does not pass, by its name; {} before `make verify WRITE=1` has recorded them."""
    path = paths.failed_checks(folder)
    table = json.loads(path.read_text("utf-8")) if path.exists() else {"checks": [], "mistakes": {}}

    def marked(marks: str, mark: str) -> tuple[str, ...]:
        return tuple(check for check, found in zip(table["checks"], marks, strict=True) if found == mark)

    return {
        name: NotPassed(marked(marks, FAILED), marked(marks, NOT_CHECKED)) for name, marks in table["mistakes"].items()
    }


def as_json(checks: list[str], not_passed: Mapping[str, NotPassed]) -> str:
    """The text of failed_checks.json: one mark for each check and mistake, one line for each mistake."""

    def mark(check: str, row: NotPassed) -> str:
        return FAILED if check in row.failed else NOT_CHECKED if check in row.not_checked else PASSED

    rows = {name: "".join(mark(check, row) for check in checks) for name, row in sorted(not_passed.items())}
    shown = ",\n".join(f"  {json.dumps(name)}: {json.dumps(marks)}" for name, marks in rows.items())
    return f'{{\n "checks": {json.dumps(checks)},\n "mistakes": {{\n{shown}\n }}\n}}\n'


def _parts(path: Path, lines: list[str], start: int, end: int) -> tuple[str, tuple[Hunk, ...]]:
    """The sentence and the hunks below the heading of a mistake. Raises BadMistake."""
    fences = [number for number in range(start, end) if lines[number].startswith("```")]
    if len(fences) != 2 or lines[fences[0]] != "```diff":
        raise BadMistake(path, start, "below its sentence a mistake has one block, from ```diff to ```")
    sentence = " ".join(" ".join(lines[start : fences[0]]).split())
    if any(line.strip() for line in lines[fences[1] + 1 : end]):
        raise BadMistake(path, fences[1] + 2, "nothing follows the diff of a mistake")
    heads = [number for number in range(fences[0] + 1, fences[1]) if lines[number].startswith("@@")]
    if not heads or heads[0] != fences[0] + 1:
        raise BadMistake(path, fences[0] + 2, "a diff begins with the definition that it changes: @@ name @@")
    hunks = []
    for number, last in zip(heads, [*heads[1:], fences[1]], strict=True):
        named = HUNK.fullmatch(lines[number])
        if named is None:
            raise BadMistake(path, number + 1, "write the definition like this: @@ softmax @@ or @@ Layer.forward @@")
        for place in range(number + 1, last):
            if lines[place][:1] not in ("-", "+", " ", ""):
                raise BadMistake(path, place + 1, "a line of a diff begins with -, + or a space")
        body = tuple(line or " " for line in lines[number + 1 : last])  # editors cut the space off an empty line
        hunks.append(Hunk(named[1], body, number + 1))
    return sentence, tuple(hunks)
