"""Matches the names and statements of a learner's definition with those of the solution, by their text.

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

MIN_SIMILARITY = 0.5  # share of common words from which two values are taken for those of one name
MIN_NAME_SIMILARITY = 0.4  # share of common letters from which two attributes are taken for one
SAME_NAME = 0.2  # what an equal name adds to the similarity of two values
MAX_INLINED = 3  # how deep names without counterpart are replaced by their values
Node = TypeVar("Node", bound=ast.AST)


class Alignment:
    """A definition of the learner's (`unit`) beside the solution's (`twin`).

    names: the learner's name for each local name and parameter of the solution. attributes: the same for the attributes
    of `self`. unmatched: the learner's statements that occur nowhere in the solution. missing: the solution's
    statements that the learner's definition lacks, with the learner's names.
    """

    def __init__(self, unit: Unit, twin: Unit):
        self.unit, self.twin = unit, twin
        self.names = dict(zip(_parameters(twin), _parameters(unit)))
        self.attributes = _attributes(unit, twin)
        self.values = dict(_definitions(twin))  # the values of the solution's local names
        self._align()
        pairs = [(node, self.renamed(node)) for node in statements(twin)]
        renamed_statements = [new for _, new in pairs if new is not None]
        self.origin = {id(new): node for node, new in pairs}  # the solution's statement, by the `id` of the renamed one
        self.unmatched, missing = without_equals(list(statements(unit)), renamed_statements, (text_of, value_of))
        if not self.unmatched:  # the learner may have exchanged the names of two values
            self.unmatched, missing = without_equals(list(statements(unit)), renamed_statements, (text_of,))
        reachable = [new for node in statements(twin) if (new := self.renamed(node, MAX_INLINED)) is not None]
        # A name is not replaced by its value here: the statement would then bypass the learner's own value.
        reachable_texts = {text_of(node) for node in reachable}
        self.missing = [node for node in missing if text_of(node) in reachable_texts]

    def renamed(self, node: Node, inlined: int = 0) -> Node | None:
        """A copy of the solution's code with the learner's names; None where a name has no counterpart.

        inlined: how many names around this code were replaced by their values already.
        """
        renamer = _Renamer(self, inlined)
        new: Node = renamer.visit(copy.deepcopy(node))
        return None if renamer.has_unknown else new

    def stands_between(self, new: ast.stmt, before: list[ast.stmt], after: ast.stmt) -> bool:
        """Whether a missing statement has one of these as its neighbour in the solution too.

        before: the learner's statement before the place where it would be inserted, if any; after: the one after it.
        """
        siblings = next((body for body in _bodies(self.twin.node) if self.origin.get(id(new)) in body), [])
        position = siblings.index(self.origin[id(new)]) if siblings else 0
        neighbours = [
            *zip(siblings[max(position - 1, 0) : position], before),
            *zip(siblings[position + 1 : position + 2], [after]),
        ]
        return any(
            (renamed_neighbour := self.renamed(neighbour)) is not None and same(renamed_neighbour, own_statement)
            for neighbour, own_statement in neighbours
        )

    def with_free_names(self, node: Node) -> Node | None:
        """As `renamed`, but names without counterpart stay; None where the learner uses one for something else."""
        renamer = _Renamer(self, MAX_INLINED)
        new: Node = renamer.visit(copy.deepcopy(node))
        return None if renamer.without_counterpart & set(self.names.values()) else new

    def _align(self) -> None:
        """Give each local name of the solution the learner's name whose value is most similar."""
        own_definitions = [(name, value, words(value)) for name, value in _definitions(self.unit)]
        assigned_names = set(self.names.values())
        for name, value in _definitions(self.twin):
            if name in self.names:
                continue
            solution_words = words(self.renamed(value) or value)
            scores = [
                (similarity(solution_words, own_words) + (SAME_NAME if own_name == name else 0), own_name)
                for own_name, _, own_words in own_definitions
            ]
            unassigned = [pair for pair in scores if pair[1] not in assigned_names]
            score, own_name = max(unassigned, default=(0.0, ""), key=lambda pair: pair[0])
            if score >= MIN_SIMILARITY:
                self.names[name] = own_name
                assigned_names.add(own_name)


class _Renamer(ast.NodeTransformer):
    """Puts the learner's names into the solution's code. has_unknown: whether it reads a name without counterpart."""

    def __init__(self, alignment: Alignment, inlined: int):
        self.alignment, self.inlined, self.has_unknown = alignment, inlined, False
        self.without_counterpart: set[str] = set()  # local names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        names, values = self.alignment.names, self.alignment.values
        if node.id in names:
            return ast.Name(names[node.id], node.ctx)
        if node.id not in values:
            return node  # a library, a function, a name of a comprehension
        value = values[node.id]
        if isinstance(node.ctx, ast.Load) and self.inlined < MAX_INLINED and not isinstance(value, ast.Subscript):
            renamed_value = self.alignment.renamed(value, self.inlined + 1)
            if renamed_value is not None:
                return renamed_value
        self.without_counterpart.add(node.id)
        self.has_unknown = isinstance(node.ctx, ast.Load) or self.has_unknown
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            return ast.Attribute(node.value, self.alignment.attributes.get(node.attr, node.attr), node.ctx)
        return node


def statements(unit: Unit) -> Iterator[ast.stmt]:
    """All statements of a definition without its docstring, also those within an `if` or a loop."""
    for node in ast.walk(unit.node):
        if node is not unit.node and isinstance(node, ast.stmt) and not is_docstring(node):
            yield node


def similarity(first: Counter[str], second: Counter[str]) -> float:
    """The share of words that two pieces of code have in common, from 0 to 1."""
    total = sum(first.values()) + sum(second.values())
    return 2 * sum((first & second).values()) / total if total else 1.0


def _bodies(function: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(function):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            yield body


def _parameters(unit: Unit) -> list[str]:
    return [parameter.arg for parameter in parameters(unit.node)]


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
                for index, element in enumerate(target.elts):
                    if isinstance(element, ast.Name):
                        yield element.id, ast.Subscript(value, ast.Constant(index), ast.Load())


def _attributes(unit: Unit, twin: Unit) -> dict[str, str]:
    """Of the attributes of the solution's object, the learner's."""
    own_names, solution_names = (
        list(
            dict.fromkeys(
                node.attr
                for node in ast.walk(definition.owner or definition.node)
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
            )
        )
        for definition in (unit, twin)
    )
    counterparts: dict[str, str] = {}
    unassigned = [name for name in own_names if name not in solution_names]
    for name in solution_names:
        if name in own_names:
            continue
        scores = [
            (difflib.SequenceMatcher(None, name.lower(), own_name.lower()).ratio(), own_name) for own_name in unassigned
        ]
        best = max(scores, default=(0.0, ""))
        if best[0] >= MIN_NAME_SIMILARITY:
            counterparts[name] = best[1]
            unassigned.remove(best[1])
    return counterparts
