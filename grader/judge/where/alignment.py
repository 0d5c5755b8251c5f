"""Which of the learner's names and statements are those of the solution, by what they look like.

Alignment of a program with a right one: Wang et al. 2018 (Sarfgen, arXiv 1711.07148).
"""

import ast
import copy
import difflib
from collections import Counter
from collections.abc import Iterator
from typing import TypeVar

from grader.judge.where.edits import Unit
from grader.judge.where.equal_statements import same, text_of, value_of, without_equals
from grader.judge.where.guidance import words
from grader.judge.where.nodes import is_docstring, parameters

ALIKE = 0.5  # of the words that two definitions of one name share
NAMED_ALIKE = 0.4  # of the letters that two attributes of one meaning share
MAX_INLINED = 3  # definitions that are put in each other's place
Node = TypeVar("Node", bound=ast.AST)


class Alignment:
    """A definition of the learner's beside the solution's.

    names: of the solution's local names and parameters, the learner's; odd: the learner's statements that stand in the
    solution in no place; missing: the solution's that do not stand in the learner's.
    """

    def __init__(self, unit: Unit, twin: Unit):
        self.unit, self.twin = unit, twin
        self.names = dict(zip(_parameters(twin), _parameters(unit)))
        self.attributes = _attributes(unit, twin)
        self.values = dict(_definitions(twin))  # of the solution's local names
        self._align()
        pairs = [(node, self.renamed(node)) for node in statements(twin)]
        theirs = [new for _, new in pairs if new is not None]
        self.origin = {id(new): node for node, new in pairs}  # of what is missing, the solution's statement
        self.odd, missing = without_equals(list(statements(unit)), theirs, (text_of, value_of))
        if not self.odd:  # two values may have each other's names
            self.odd, missing = without_equals(list(statements(unit)), theirs, (text_of,))
        named = [new for node in statements(twin) if (new := self.renamed(node, MAX_INLINED)) is not None]
        known = {
            text_of(node) for node in named
        }  # what is put in the place of a name would go round the learner's value
        self.missing = [node for node in missing if text_of(node) in known]

    def renamed(self, node: Node, inlined: int = 0) -> Node | None:
        """A copy of the solution's code with the learner's names; None where one has no counterpart."""
        renamer = _Renamer(self, inlined)
        new: Node = renamer.visit(copy.deepcopy(node))
        return None if renamer.is_lost else new

    def stands_between(self, new: ast.stmt, before: list[ast.stmt], after: ast.stmt) -> bool:
        """Whether a missing statement stands in the solution beside one of these two."""
        siblings = next((body for body in _bodies(self.twin.node) if self.origin.get(id(new)) in body), [])
        at = siblings.index(self.origin[id(new)]) if siblings else 0
        beside = [*zip(siblings[max(at - 1, 0) : at], before), *zip(siblings[at + 1 : at + 2], [after])]
        return any((theirs := self.renamed(one)) is not None and same(theirs, other) for one, other in beside)

    def with_free_names(self, node: Node) -> Node | None:
        """The same, where a name without counterpart stays as it is; None where it is that of something else."""
        renamer = _Renamer(self, MAX_INLINED)
        new: Node = renamer.visit(copy.deepcopy(node))
        return None if renamer.kept & set(self.names.values()) else new

    def _align(self) -> None:
        """Each local name of the solution with the learner's whose definition looks most alike."""
        mine = [(name, value, words(value)) for name, value in _definitions(self.unit)]
        taken = set(self.names.values())
        for name, value in _definitions(self.twin):
            if name in self.names:
                continue
            theirs = words(self.renamed(value) or value)
            rated = [(share(theirs, own) + (0.2 if other == name else 0), other) for other, _, own in mine]
            best = max((pair for pair in rated if pair[1] not in taken), default=(0.0, ""), key=lambda pair: pair[0])
            if best[0] >= ALIKE:
                self.names[name] = best[1]
                taken.add(best[1])


class _Renamer(ast.NodeTransformer):
    def __init__(self, alignment: Alignment, inlined: int):
        self.alignment, self.inlined, self.is_lost = alignment, inlined, False
        self.kept: set[str] = set()  # local names without counterpart
        self.own: set[str] = set()  # of comprehensions and lambdas

    def visit_Name(self, node: ast.Name) -> ast.AST:
        names, values = self.alignment.names, self.alignment.values
        if node.id in names:
            return ast.Name(names[node.id], node.ctx)
        if node.id not in values or node.id in self.own:
            return node  # a library, a function, a name of its own
        value = values[node.id]
        if isinstance(node.ctx, ast.Load) and self.inlined < MAX_INLINED and not isinstance(value, ast.Subscript):
            inner = self.alignment.renamed(value, self.inlined + 1)
            if inner is not None:
                return inner
        self.kept.add(node.id)
        self.is_lost = isinstance(node.ctx, ast.Load) or self.is_lost
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            return ast.Attribute(node.value, self.alignment.attributes.get(node.attr, node.attr), node.ctx)
        return node


def statements(unit: Unit) -> Iterator[ast.stmt]:
    """The statements of a definition, without its docstring; of an `if` or a loop what stands in it, and its head."""
    for node in ast.walk(unit.node):
        if node is not unit.node and isinstance(node, ast.stmt) and not is_docstring(node):
            yield node


def share(one: Counter[str], other: Counter[str]) -> float:
    """How much of their words two pieces of code share, from 0 to 1."""
    total = sum(one.values()) + sum(other.values())
    return 2 * sum((one & other).values()) / total if total else 1.0


def _bodies(function: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(function):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            yield body


def _parameters(unit: Unit) -> list[str]:
    return [one.arg for one in parameters(unit.node)]


def _definitions(unit: Unit) -> Iterator[tuple[str, ast.expr]]:
    """The local names with their values, in order; a part of a tuple with an index."""
    for node in ast.walk(unit.node):
        pairs = []
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, (ast.For, ast.comprehension)):
            pairs = [(node.target, node.iter)]
        for target, value in pairs:
            if isinstance(target, ast.Name):
                yield target.id, value
            elif isinstance(target, ast.Tuple):
                for index, part in enumerate(target.elts):
                    if isinstance(part, ast.Name):
                        yield part.id, ast.Subscript(value, ast.Constant(index), ast.Load())


def _attributes(unit: Unit, twin: Unit) -> dict[str, str]:
    """Of the attributes of the solution's object, the learner's."""
    mine, theirs = (
        list(
            dict.fromkeys(
                node.attr
                for node in ast.walk(one.owner or one.node)
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
            )
        )
        for one in (unit, twin)
    )
    found: dict[str, str] = {}
    free = [name for name in mine if name not in theirs]
    for name in theirs:
        if name in mine:
            continue
        rated = [(difflib.SequenceMatcher(None, name.lower(), other.lower()).ratio(), other) for other in free]
        best = max(rated, default=(0.0, ""))
        if best[0] >= NAMED_ALIKE:
            found[name] = best[1]
            free.remove(best[1])
    return found
