"""The cards of an exercise, review.md: what `make review` asks in the weeks after it was passed.

A card has a heading, a question, and an answer within <details>. A heading as "Write `softmax`" makes it a code card:
what is typed is graded. Its question shows the function with `...` for the part that is asked for: the whole body, or
the end of one line (`weights = ...`). The answer begins with that part, as a block.
"""

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from grader.catalog import paths
from grader.catalog.errors import BadLine

SECTION = re.compile(r"^## ([^\n]+)(.*?)(?=^## |\Z)", re.M | re.S)
CODE_HEADING = re.compile(r"Write `(\w+)`")
ANSWER = re.compile(r"<details>\n<summary>Answer</summary>\n\n(.+?)\n\n</details>", re.S)
BLOCK = re.compile(r"^```python\n(.*?)^```\n?", re.M | re.S)
BLANK = re.compile(r"^( +)(\w[\w, ]* = |return |)\.\.\.$", re.M)


@dataclass(frozen=True)
class Card:
    """One card. function: the one that a code card asks for, or ""; line: of its heading in the file."""

    exercise: str
    title: str
    question: str
    answer: str
    function: str
    line: int

    @property
    def code(self) -> str:
        """The function of a code card as its question shows it, with a blank."""
        return next(iter(BLOCK.findall(self.question)), "")

    @property
    def right(self) -> str:
        """What its answer types."""
        return found[1] if (found := BLOCK.match(self.answer)) else ""

    @property
    def lead(self) -> str:
        """What is before the blank on its line: "weights = ", "return ", or "" where whole lines are asked for."""
        return found[2] if (found := BLANK.search(self.code)) else ""

    def fill(self, typed: str) -> str:
        """The function with what was typed in its blank. An expression alone becomes what it returns."""
        typed = textwrap.dedent(typed).strip("\n")
        if self.lead:
            text = self.lead + typed.removeprefix(self.lead)  # who types the beginning of the line once more means it
        else:
            text = _return_last(typed)
        return BLANK.sub(lambda blank: textwrap.indent(text, blank[1]), self.code, count=1)


def read(folder: str) -> tuple[Card, ...]:
    """The cards of an exercise; none where there is no file. Raises BadLine."""
    path = paths.review(folder)
    if not path.exists():
        return ()
    found: dict[str, Card] = {}
    for title, line, body in _sections(path.read_text("utf-8")):
        answer, code = ANSWER.search(body), CODE_HEADING.fullmatch(title)
        if title in found:
            raise BadLine(path, line, f"two cards have the heading “{title}”, by which a card is known")
        if answer is None or body[answer.end() :].strip():
            folded = "`<details>`, `<summary>Answer</summary>`, the answer and `</details>`, an empty line between them"
            raise BadLine(path, line, f"“{title}” does not end with {folded}")
        card = Card(folder, title, body[: answer.start()].strip(), answer[1], code[1] if code else "", line)
        if reason := _wrong(card):
            raise BadLine(path, line, f"“{title}” {reason}")
        found[title] = card
    return tuple(found.values())


def questions(markdown: str) -> str:
    """The file without its code cards, whose answers are pieces of a solution."""
    kept = SECTION.sub(lambda card: "" if CODE_HEADING.fullmatch(card[1].strip()) else card[0], markdown)
    return f"{kept.rstrip()}\n"


def _sections(text: str) -> Iterator[tuple[str, int, str]]:
    """Each heading with its line and the text below it."""
    for section in SECTION.finditer(text):
        yield section[1].strip(), text.count("\n", 0, section.start()) + 1, section[2]


def _wrong(card: Card) -> str:
    """What a card lacks, "" for nothing."""
    if not card.question:
        return "asks nothing"
    if not card.function:
        return ""
    if not re.match(rf"def {card.function}\(.*\).*:\n", card.code):
        return f"has no block whose first line is `def {card.function}(…):`"
    if len(BLANK.findall(card.code)) != 1:
        return "must show one `...`, in place of the body or of the end of a line"
    return "" if card.right else "has an answer that does not begin with a block of code"


def _return_last(typed: str) -> str:
    """The same lines, the last of which returns its value if it is an expression. What is no Python stays as it is."""
    try:
        last = ast.parse(typed).body[-1]
    except (SyntaxError, ValueError, IndexError):
        return typed
    lines = typed.splitlines()
    if isinstance(last, ast.Expr):
        lines[last.lineno - 1] = f"return {lines[last.lineno - 1]}"
    return "\n".join(lines)
