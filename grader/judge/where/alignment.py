"""Matches the names and statements of a learner's definition with those of the solution, by what they compute."""

import ast
import copy
import difflib
import functools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from grader.catalog import mistakes, patches, paths
from grader.judge.where.edits import Edit, Unit, dump, is_own_attribute, parameter_names
from grader.judge.words import likeness
from grader.records.syntax import is_text

WORD = re.compile(r"\w+|[^\w\s]")
IGNORED = set("()[],:.")  # brackets and commas say nothing
MISS = 0.5  # what a change that the mistake does not explain costs; one that it explains counts 1
WordsBefore = dict[int, Counter[str]]
NOTHING: dict[str, ast.expr] = {}
MIN_SIMILARITY = 0.5  # share of common words from which two values are taken for those of one name
MIN_NAME_SIMILARITY = 0.4  # share of common letters from which two attributes are taken for one
SAME_NAME = 0.2  # what an equal name, or one that begins alike, adds to the similarity of two values
MIN_BEGINNING = 3  # letters of a name with which another one begins: out and output
MAX_DIFFERENCES = 6  # of one definition; a mistake with more is another way to write it
SEVERAL = 2  # differences in one expression, from which on the whole expression is put back
MAX_INLINED = 3  # how deep names without counterpart are replaced by their values
Node = TypeVar("Node", bound=ast.AST)


@dataclass(frozen=True)
class Difference:
    """An expression of a mistake, and the solution's in its place. statement: the mistake's, around it."""

    wrong: ast.expr
    right: ast.expr
    statement: ast.AST


@dataclass(frozen=True)
class Guidance:
    """How a mistake and the solution differ.

    wrong: the words that the mistake has more often than the solution; right: those that the solution has more often.
    differences: of each definition that is not the solution's, by its name.
    """

    wrong: Counter[str]
    right: Counter[str]
    differences: dict[str, tuple[Difference, ...]]

    def score(self, edit: Edit, words_before: WordsBefore) -> float:
        """How well an edit undoes the mistake; 0 where it does something else.

        words_before: the words of the replaced nodes, by their `id`, since many edits replace the same node.
        """
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


def named(sentences: Collection[str], folder: str, excluded_mistake: str = "") -> dict[str, Guidance]:
    """The guidance of each known mistake that these diagnoses name, but the excluded one, by the mistake's sentence."""
    solution = paths.solution(folder)
    found: dict[str, Guidance] = {}
    for mistake in mistakes.mistakes(folder) if sentences and solution.exists() else ():
        is_named = mistake.sentence and any(mistake.sentence in sentence for sentence in sentences)
        if is_named and mistake.name != excluded_mistake and mistake.sentence not in found:
            found[mistake.sentence] = of(mistake.source, solution.read_text("utf-8"))
    return found


@functools.lru_cache(64)
def of(mistake: str, solution: str) -> Guidance:
    """The guidance of a mistake, from its composed source and the solution's."""
    mistake_definitions, solution_definitions = patches.definitions(mistake), patches.definitions(solution)
    wrong, right = Counter[str](), Counter[str]()
    found: dict[str, tuple[Difference, ...]] = {}
    for name in mistake_definitions.keys() & solution_definitions.keys():
        found[name] = differences(mistake_definitions[name], solution_definitions[name])
        mistake_words, solution_words = words(mistake_definitions[name]), words(solution_definitions[name])
        wrong += mistake_words - solution_words
        right += solution_words - mistake_words
    return Guidance(wrong, right, found)


def differences(wrong: ast.AST, right: ast.AST) -> tuple[Difference, ...]:
    """Where a definition of a mistake differs from the solution's: () where it does in too many places."""
    found = tuple(_differences(wrong, right, wrong))
    return found if len(found) <= MAX_DIFFERENCES else ()


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
    found = (word.rstrip("_") or word for word in WORD.findall(text))  # masked_fill_ is masked_fill in place
    return Counter(word for word in found if word not in IGNORED)


def without_equals(
    own_statements: list[ast.stmt], solution_statements: list[ast.stmt], keys: Sequence[Callable[[ast.stmt], str]]
) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """The statements of both without those that are equal. keys: what must be equal, the strictest first."""
    for key in keys:
        solution_by_key = defaultdict(list)
        for node in solution_statements:
            solution_by_key[key(node)].append(node)
        unmatched = []
        for node in own_statements:
            equal_statements = solution_by_key[key(node)]
            if equal_statements:
                equal_statements.pop(0)
            else:
                unmatched.append(node)
        own_statements, solution_statements = unmatched, [node for nodes in solution_by_key.values() for node in nodes]
    return own_statements, solution_statements


def value_of(node: ast.stmt) -> str:
    """The text of a statement without the local names to which it assigns."""
    if not isinstance(node, ast.Assign):
        return text_of(node)
    stored_targets = [ast.unparse(target) for target in node.targets if not isinstance(target, (ast.Name, ast.Tuple))]
    return f"{stored_targets} = {ast.unparse(node.value)}"


def text_of(node: ast.stmt) -> str:
    """The text that equal statements have in common: of a loop its head, of a raise not the words of the error."""
    if isinstance(node, (ast.If, ast.While)):
        return f"if {ast.unparse(node.test)}"
    if isinstance(node, ast.For):
        return f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}"
    if isinstance(node, ast.With):
        return f"with {[ast.unparse(item) for item in node.items]}"
    return "raise" if isinstance(node, ast.Raise) else ast.unparse(node)


class Alignment:
    """A definition of the learner's (`unit`) beside the solution's (`twin`).

    names: the learner's name for each local name and parameter of the solution. attributes: the same for the attributes
    of `self`. unmatched: the learner's statements that occur nowhere in the solution. missing: the solution's
    statements that the learner's definition lacks, with the learner's names. own_values: what each local name of the
    learner's stands for that is assigned once.
    """

    def __init__(self, unit: Unit, twin: Unit):
        self.unit, self.twin = unit, twin
        self.names = dict(zip(parameter_names(twin.node), parameter_names(unit.node)))
        self.attributes = _attributes(unit, twin)
        self.values = dict(_definitions(twin))  # the values of the solution's local names
        own_definitions = list(_definitions(unit))
        counts = Counter(name for name, _ in own_definitions)
        self.own_values = {name: _of_tuple(value) for name, value in own_definitions if counts[name] == 1}
        self._align()
        renamed_statements = [new for node in statements(twin) if (new := self.rename(node)) is not None]
        self.unmatched, missing = without_equals(list(statements(unit)), renamed_statements, (text_of, value_of))
        if not self.unmatched:  # the learner may have exchanged the names of two values
            self.unmatched, missing = without_equals(list(statements(unit)), renamed_statements, (text_of,))
        reachable = [new for node in statements(twin) if (new := self.rename(node, MAX_INLINED)) is not None]
        # A name is not replaced by its value here: the statement would then bypass the learner's own value.
        reachable_texts = {text_of(node) for node in reachable}
        self.missing = [node for node in missing if text_of(node) in reachable_texts]

    def rename(self, node: Node, inlined: int = 0, chosen: Mapping[str, ast.expr] = NOTHING) -> Node | None:
        """A copy of the solution's code with the learner's names; None where a name has no counterpart.

        inlined: how many names around this code were replaced by their values already. chosen: what names stand for,
        whatever their counterparts are.
        """
        renamer = _Renamer(self, inlined, chosen)
        new: Node = renamer.visit(copy.deepcopy(node))
        return None if renamer.has_unknown else new

    def _align(self) -> None:
        """Give each local name of the solution the learner's name whose value is most similar."""
        own_definitions = [(name, value, words(_of_tuple(value))) for name, value in _definitions(self.unit)]
        assigned_names = set(self.names.values())
        for name, value in _definitions(self.twin):
            if name in self.names:
                continue
            solution_words = words(_Renamer(self, 0, NOTHING).visit(copy.deepcopy(_of_tuple(value))))
            scores = [
                (similarity(solution_words, own_words) + (SAME_NAME if _are_alike(own_name, name) else 0), own_name)
                for own_name, _, own_words in own_definitions
            ]
            unassigned = [pair for pair in scores if pair[1] not in assigned_names]
            score, own_name = max(unassigned, default=(0.0, ""), key=lambda pair: pair[0])
            if score >= MIN_SIMILARITY:
                self.names[name] = own_name
                assigned_names.add(own_name)


class _Renamer(ast.NodeTransformer):
    """Puts the learner's names into the solution's code. has_unknown: whether it reads a name without counterpart."""

    def __init__(self, alignment: Alignment, inlined: int, chosen: Mapping[str, ast.expr]):
        self.alignment, self.inlined, self.chosen, self.has_unknown = alignment, inlined, chosen, False

    def visit_Name(self, node: ast.Name) -> ast.AST:
        names, values = self.alignment.names, self.alignment.values
        if node.id in self.chosen:
            return copy.deepcopy(self.chosen[node.id])
        if node.id in names:
            return ast.Name(names[node.id], node.ctx)
        if node.id not in values:
            return node  # a library, a function, a name of a comprehension
        value = values[node.id]
        if isinstance(node.ctx, ast.Load) and self.inlined < MAX_INLINED and not isinstance(value, ast.Subscript):
            renamed_value = self.alignment.rename(value, self.inlined + 1)
            if renamed_value is not None:
                return renamed_value
        self.has_unknown = isinstance(node.ctx, ast.Load) or self.has_unknown
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if is_own_attribute(node):
            return ast.Attribute(node.value, self.alignment.attributes.get(node.attr, node.attr), node.ctx)
        return node


def statements(unit: Unit) -> Iterator[ast.stmt]:
    """All statements of a definition without its docstring, also those within an `if` or a loop."""
    for node in ast.walk(unit.node):
        if node is not unit.node and isinstance(node, ast.stmt) and not is_text(node):
            yield node


def similarity(first: Counter[str], second: Counter[str]) -> float:
    """The share of words that two pieces of code have in common, from 0 to 1."""
    total = sum(first.values()) + sum(second.values())
    return 2 * sum((first & second).values()) / total if total else 1.0


def parts(wrong: ast.AST, right: ast.AST) -> list[tuple[ast.AST, ast.AST]] | None:
    """The parts of two nodes that belong to each other; None where the nodes themselves differ."""
    if type(wrong) is not type(right):
        return None
    pairs: list[tuple[ast.AST, ast.AST]] = []
    for (_, old), (_, new) in zip(ast.iter_fields(wrong), ast.iter_fields(right)):
        if isinstance(old, list) and isinstance(new, list):
            is_code = any(isinstance(item, ast.stmt) for item in (*old, *new))
            is_of_operators = any(isinstance(item, ast.cmpop) for item in old)
            if not is_code and (len(old) != len(new) or (is_of_operators and dump(old[0]) != dump(new[0]))):
                return None
            pairs += _of_equal_length(old, new) if is_code else zip(old, new)
        elif isinstance(old, ast.expr) and isinstance(new, ast.expr):
            pairs.append((old, new))
        elif dump(old) != dump(new):
            return None
    return pairs


def _differences(wrong: ast.AST, right: ast.AST, statement: ast.AST) -> Iterator[Difference]:
    if ast.dump(wrong) == ast.dump(right):
        return
    if isinstance(wrong, ast.stmt):
        statement = wrong
    pairs = parts(wrong, right)
    if pairs is None:
        if isinstance(wrong, ast.expr) and isinstance(right, ast.expr):
            yield Difference(wrong, right, statement)
        return
    inner = [difference for pair in pairs for difference in _differences(*pair, statement)]
    if len(inner) > SEVERAL and isinstance(wrong, ast.expr) and isinstance(right, ast.expr):
        inner = [Difference(wrong, right, statement)]
    yield from inner


def _of_equal_length(old: list[ast.AST], new: list[ast.AST]) -> Iterator[tuple[ast.AST, ast.AST]]:
    """The statements that stand for each other; one that was added or left out has none."""
    matcher = difflib.SequenceMatcher(None, [*map(ast.dump, old)], [*map(ast.dump, new)], autojunk=False)
    for _, start, end, other_start, other_end in matcher.get_opcodes():
        if end - start == other_end - other_start:
            yield from zip(old[start:end], new[other_start:other_end])


def _without_docstring(node: ast.AST) -> ast.AST:
    body = getattr(node, "body", None)
    if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) and isinstance(body, list) and len(body) > 1:
        return ast.FunctionDef(node.name, node.args, body[1:], [], node.returns, lineno=0)
    return node


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


def _are_alike(first: str, second: str) -> bool:
    shorter, longer = sorted((first, second), key=len)
    return first == second or (len(shorter) >= MIN_BEGINNING and longer.startswith(shorter))


def _of_tuple(value: ast.expr) -> ast.expr:
    """The part that an index takes of a tuple which is written out; any other expression as it is."""
    index = value.slice.value if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant) else None
    if not isinstance(index, int) or not isinstance(value, ast.Subscript) or not isinstance(value.value, ast.Tuple):
        return value
    parts = value.value.elts
    return parts[index] if index in range(len(parts)) else value


def _constructor_values(owner: ast.ClassDef | None) -> dict[str, ast.expr]:
    """What the constructor of a class assigns to each attribute of `self`, the last of several."""
    makers = [node for node in getattr(owner, "body", []) if getattr(node, "name", "") == "__init__"]
    values: dict[str, ast.expr] = {}
    for statement in (node for maker in makers for node in ast.walk(maker) if isinstance(node, ast.Assign)):
        for target in statement.targets:
            pairs = [(target, statement.value)]
            if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
                pairs = list(zip(target.elts, statement.value.elts))
            values |= {stored.attr: value for stored, value in pairs if is_own_attribute(stored)}
    return values


def _attributes(unit: Unit, twin: Unit) -> dict[str, str]:
    """Of the attributes of the solution's object, the learner's: of equal value, of similar name, the only one left."""
    own_names, solution_names = (
        list(
            dict.fromkeys(node.attr for node in ast.walk(definition.owner or definition.node) if is_own_attribute(node))
        )
        for definition in (unit, twin)
    )
    own_values, values = (_constructor_values(definition.owner) for definition in (unit, twin))
    counterparts: dict[str, str] = {}
    unassigned = [name for name in own_names if name not in solution_names]
    missing = [name for name in solution_names if name not in own_names]
    for name in missing:
        equal = [own for own in unassigned if own in own_values and dump(own_values[own]) == dump(values.get(name))]
        best = max([(likeness(name, own) + (own in equal), own) for own in unassigned], default=(0.0, ""))
        if best[0] >= MIN_NAME_SIMILARITY:
            counterparts[name] = best[1]
            unassigned.remove(best[1])
    left = [name for name in missing if name not in counterparts]
    if len(left) == len(unassigned) == 1:
        counterparts[left[0]] = unassigned[0]
    return counterparts
