"""What a named mistake changes in the solution, as words: changes of the learner's code that undo it come first."""

import ast
import functools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from grader.catalog import overlay
from grader.judge.where.edits import Edit, Tree, Unit

WORD = re.compile(r"\w+|[^\w\s]")
LIKELIEST = 3  # tiers of edits that are compared with the mistake
QUIET = set("()[],:.")  # brackets and commas say nothing
SIZES = {"shape", "size"}  # code of any kind reads sizes
WordsBefore = dict[int, Counter[str]]


@dataclass(frozen=True)
class Guidance:
    """wrong: the words that the mistake has more than the solution; right: those that the solution has more.

    alone: the words of two letters or more, but for sizes, that a definition has in the mistake alone.
    """

    wrong: Counter[str]
    right: Counter[str]
    alone: frozenset[str]

    def score(self, edit: Edit, words_before: WordsBefore) -> float:
        """How much an edit does what would undo the mistake; 0 where it does something else.

        words_before: the words of what edits replace, by the `id` of the node: many edits replace the same one.
        """
        if edit.tier > LIKELIEST:
            return 0.0
        old, new = Counter[str](), Counter[str]()
        for change in edit.changes:
            replaced = change.old()
            if id(replaced) not in words_before:
                words_before[id(replaced)] = words(replaced)
            old += words_before[id(replaced)]
            new += words(change.value)
        taken, put = old - new, new - old
        hits = sum((taken & self.wrong).values()) + sum((put & self.right).values())
        misses = sum((taken - self.wrong).values()) + sum((put - self.right).values())
        return max(0.0, hits - 0.5 * misses)

    def construct(self, tree: Tree, units: Sequence[Unit]) -> int | None:
        """The line of the one statement that has most of the words of the mistake alone; None where no one has most."""
        scores: dict[int, int] = {}
        for unit in units:
            for node in ast.walk(unit.node):
                if isinstance(node, (ast.Assign, ast.AugAssign, ast.Return, ast.Expr)):
                    score = len(words(node).keys() & self.alone)
                    scores[node.lineno] = max(scores.get(node.lineno, 0), score)
        best = max(scores.values(), default=0)
        lines = [line for line, score in scores.items() if score == best]
        return lines[0] if best > 0 and len(lines) == 1 else None


@functools.lru_cache(64)
def of(mistake: str, solution: str) -> Guidance:
    """The guidance of a mistake's whole source against the solution's."""
    theirs, ours = overlay.definitions(mistake), overlay.definitions(solution)
    wrong, right, alone = Counter[str](), Counter[str](), set[str]()
    for name in theirs.keys() & ours.keys():
        bad, good = words(theirs[name]), words(ours[name])
        wrong += bad - good
        right += good - bad
        alone |= {word for word in bad.keys() - good.keys() - SIZES if len(word) > 1}
    return Guidance(wrong, right, frozenset(alone))


def words(node: object) -> Counter[str]:
    """The words and signs of a piece of code, counted."""
    if isinstance(node, list):
        return sum((words(part) for part in node), Counter[str]())
    if not isinstance(node, ast.AST):
        return Counter(WORD.findall(str(node))) if node is not None else Counter()
    try:
        text = ast.unparse(_without_docstring(node))
    except (ValueError, AttributeError):
        return Counter()
    return Counter(word for word in WORD.findall(text) if word not in QUIET)


def _without_docstring(node: ast.AST) -> ast.AST:
    body = getattr(node, "body", None)
    if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) and isinstance(body, list) and len(body) > 1:
        return ast.FunctionDef(node.name, node.args, body[1:], [], node.returns, lineno=0)
    return node
