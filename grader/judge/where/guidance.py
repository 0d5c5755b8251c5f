"""The words that a named mistake changes in the solution: edits that undo them in the learner's code come first."""

import ast
import functools
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from grader.catalog import mistakes, patches, paths
from grader.judge.where.edits import Edit, Tree, Unit

WORD = re.compile(r"\w+|[^\w\s]")
LAST_SCORED_TIER = 3  # edits of higher tiers are not compared with the mistake
IGNORED = set("()[],:.")  # brackets and commas say nothing
COMMON = {"shape", "size", "zeros", "ones", "empty", "full", "dtype", "bool"}  # in code of any kind
MISS = 0.5  # what a change that the mistake does not explain costs; one that it explains counts 1
WordsBefore = dict[int, Counter[str]]


@dataclass(frozen=True)
class Guidance:
    """The words by which a mistake and the solution differ.

    wrong: the words that the mistake has more often than the solution; right: those that the solution has more often.
    alone: the words of two letters or more, but for COMMON ones, that a definition has in the mistake alone.
    """

    wrong: Counter[str]
    right: Counter[str]
    alone: frozenset[str]

    def score(self, edit: Edit, words_before: WordsBefore) -> float:
        """How well an edit undoes the mistake; 0 where it does something else.

        words_before: the words of the replaced nodes, by their `id`, since many edits replace the same node.
        """
        if edit.tier > LAST_SCORED_TIER:
            return 0.0
        old, new = Counter[str](), Counter[str]()
        for change in edit.changes:
            replaced = change.old()
            if id(replaced) not in words_before:
                words_before[id(replaced)] = words(replaced)
            old += words_before[id(replaced)]
            new += words(change.value)
        removed, added = old - new, new - old
        hits = sum((removed & self.wrong).values()) + sum((added & self.right).values())
        misses = sum((removed - self.wrong).values()) + sum((added - self.right).values())
        return max(0.0, hits - MISS * misses)

    def construct(self, tree: Tree, units: Sequence[Unit]) -> int | None:
        """The line of the statement with most words that only the mistake has; None where several or none have most."""
        scores: dict[int, int] = {}
        for unit in units:
            for node in ast.walk(unit.node):
                if isinstance(node, (ast.Assign, ast.AugAssign, ast.Return, ast.Expr)):
                    score = len(words(node).keys() & self.alone)
                    scores[node.lineno] = max(scores.get(node.lineno, 0), score)
        best = max(scores.values(), default=0)
        lines = [line for line, score in scores.items() if score == best]
        return lines[0] if best > 0 and len(lines) == 1 else None


def named(sentences: Collection[str], folder: str, excluded_mistake: str = "") -> Guidance | None:
    """The guidance of the first known mistake that these diagnoses name, but the excluded one; None without any."""
    solution = paths.solution(folder)
    for mistake in mistakes.mistakes(folder) if sentences and solution.exists() else ():
        is_named = mistake.sentence and any(mistake.sentence in sentence for sentence in sentences)
        if is_named and mistake.name != excluded_mistake:
            return of(mistake.source, solution.read_text("utf-8"))
    return None


@functools.lru_cache(64)
def of(mistake: str, solution: str) -> Guidance:
    """The guidance of a mistake, from its composed source and the solution's."""
    mistake_definitions, solution_definitions = patches.definitions(mistake), patches.definitions(solution)
    wrong, right, alone = Counter[str](), Counter[str](), set[str]()
    for name in mistake_definitions.keys() & solution_definitions.keys():
        mistake_words, solution_words = words(mistake_definitions[name]), words(solution_definitions[name])
        wrong += mistake_words - solution_words
        right += solution_words - mistake_words
        alone |= {word for word in mistake_words.keys() - solution_words.keys() - COMMON if len(word) > 1}
    return Guidance(wrong, right, frozenset(alone))


def words(node: object) -> Counter[str]:
    """How often each word and sign occurs in a piece of code."""
    if isinstance(node, list):
        return sum((words(item) for item in node), Counter[str]())
    if not isinstance(node, ast.AST):
        return Counter(WORD.findall(str(node))) if node is not None else Counter()
    try:
        text = ast.unparse(_without_docstring(node))
    except (ValueError, AttributeError):
        return Counter()
    return Counter(word for word in WORD.findall(text) if word not in IGNORED)


def _without_docstring(node: ast.AST) -> ast.AST:
    body = getattr(node, "body", None)
    if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) and isinstance(body, list) and len(body) > 1:
        return ast.FunctionDef(node.name, node.args, body[1:], [], node.returns, lineno=0)
    return node
