"""The known mistakes of an exercise: what each changes, the sentence about it, the misconception that it shows.

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

The exercise whose lesson clears one up describes it in its `exercise.toml`; a mistake names it by a heading above it.
"""

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from grader.catalog import patches, paths
from grader.catalog.errors import BadLine
from grader.catalog.exercise import Misconception, exercises
from grader.catalog.patches import Hunk

NAME = re.compile(r"[a-z][a-z0-9_]*")
HUNK = re.compile(r"@@ (\S+) @@")
FAILED, NOT_CHECKED, PASSED = "x", "-", "."  # the mark of a check in failed_checks.json
MAX_SHARED = 5  # names, numbers and operators in a row that a sentence may share with the lines that a mistake changes
TOKEN = re.compile(r"\w+|[@/*+=<>-]")  # brackets, dots and commas do not count: `x.shape[1]` gives nothing away
SECTION_HEADING = re.compile(r"^#{2,3} (.+?)\s*$", re.M)


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

    @cached_property
    def source(self) -> str:
        """The whole file that makes this mistake. Raises BadLine."""
        return patches.apply(self.solution, self.hunks)

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


def mistakes(folder: str) -> tuple[Mistake, ...]:
    """The known mistakes of an exercise in alphabetical order; () if there is no such file. Raises BadLine."""
    path = paths.mistakes(folder)
    if not path.exists():
        return ()
    return read(path, path.read_text("utf-8"), paths.solution(folder).read_text("utf-8"))


@functools.lru_cache(64)
def read(path: Path, text: str, solution: str) -> tuple[Mistake, ...]:
    """The mistakes in the text of a file, in alphabetical order. Raises BadLine."""
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
            raise BadLine(path, number + 1, f"“{name}” is no name for a mistake: write it like_this")
        if name in found:
            raise BadLine(path, number + 1, f"there is another mistake {name} in line {found[name].line}")
        if not misconception:
            raise BadLine(path, number + 1, f"{name} comes before the first heading `# misconception`")
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


def revealed(mistake: Mistake) -> BadLine | None:
    """The error for a sentence that gives too many tokens of the solution away in a row; None for another one."""
    words = TOKEN.findall(mistake.sentence)
    for line in mistake.changes:
        tokens = TOKEN.findall(re.sub(r"\s#.*", "", line[1:])) if line.startswith("-") else []
        rows = {tuple(tokens[i : i + MAX_SHARED + 1]) for i in range(len(tokens) - MAX_SHARED)}
        for i in range(len(words) - MAX_SHARED):
            if tuple(words[i : i + MAX_SHARED + 1]) in rows:
                shared = " ".join(words[i : i + MAX_SHARED + 1])
                reason = f"the sentence holds the solution, `{shared}`: say what is wrong, not what to write"
                return BadLine(mistake.path, mistake.line + 1, reason)
    return None


@functools.cache
def misconceptions() -> dict[str, Misconception]:
    """All misconceptions by id, in the order of the lessons."""
    return {one.id: one for exercise in exercises() for one in exercise.misconceptions}


def misconceptions_of_sentences(folder: str) -> dict[str, Misconception]:
    """The misconception of each mistake of an exercise, by the mistake's sentence, which the learner reads."""
    by_id = misconceptions()
    return {one.sentence: by_id[one.misconception] for one in mistakes(folder) if one.misconception in by_id}


def section_heading(lesson: str, section: str) -> str:
    """The whole heading of a section in the text of a lesson: "Task 1" stands for "Task 1: …"; "" without one."""
    headings = SECTION_HEADING.findall(lesson)
    return next((text for text in headings if text == section or text.startswith(f"{section}:")), "")


def _parts(path: Path, lines: list[str], start: int, end: int) -> tuple[str, tuple[Hunk, ...]]:
    """The sentence and the hunks below the heading of a mistake. Raises BadLine."""
    fences = [number for number in range(start, end) if lines[number].startswith("```")]
    if len(fences) != 2 or lines[fences[0]] != "```diff":
        raise BadLine(path, start, "below its sentence a mistake has one block, from ```diff to ```")
    sentence = " ".join(" ".join(lines[start : fences[0]]).split())
    if any(line.strip() for line in lines[fences[1] + 1 : end]):
        raise BadLine(path, fences[1] + 2, "nothing follows the diff of a mistake")
    heads = [number for number in range(fences[0] + 1, fences[1]) if lines[number].startswith("@@")]
    if not heads or heads[0] != fences[0] + 1:
        raise BadLine(path, fences[0] + 2, "a diff begins with the definition that it changes: @@ name @@")
    hunks = []
    for number, last in zip(heads, [*heads[1:], fences[1]], strict=True):
        named = HUNK.fullmatch(lines[number])
        if named is None:
            raise BadLine(path, number + 1, "write the definition like this: @@ softmax @@ or @@ Layer.forward @@")
        for place in range(number + 1, last):
            if lines[place][:1] not in ("-", "+", " ", ""):
                raise BadLine(path, place + 1, "a line of a diff begins with -, + or a space")
        body = tuple(line or " " for line in lines[number + 1 : last])  # editors cut the space off an empty line
        hunks.append(Hunk(named[1], body, path, number + 1))
    return sentence, tuple(hunks)
