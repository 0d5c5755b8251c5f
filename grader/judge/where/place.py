"""Finds the definition that is to blame, and says where a mistake is: lines with their code, or the definition alone.

A definition is to blame if the failed checks pass once it is replaced by the solution's.
"""

import ast
import copy
import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grader.catalog import paths
from grader.judge.collection import Check
from grader.judge.compare import SUGGESTION
from grader.judge.examiner import Examiner
from grader.judge.failure import Failure
from grader.judge.general_sentences import IN_PLACE, WRITES_INTO_A_LEAF, faults_in_place
from grader.judge.where.alignment import Substitution, attribute_values, constructor_values
from grader.judge.where.donors import names_in
from grader.judge.where.edits import (
    Change,
    Function,
    Tree,
    Unit,
    attributes_assigned_in,
    attributes_of,
    dump,
    names_read,
    parameter_names,
)
from grader.judge.where.trial import Probe, Trial
from grader.records.sanitize import inert
from grader.records.syntax import FUNCTIONS, is_notebook, place
from grader.sandbox.call_results import LearnerError

MAX_PAIRS = 10  # of definitions that are replaced together
SOLUTIONS = "_solutions_"  # begins the name of a function of the solution's, beside the learner's
METHODS = {"__call__": "forward"}  # which method of a module a call runs
MAX_CODE = 60  # characters of a line that are shown


class Twins:
    """The definitions of a source beside those of the solution. solution: None where there is none."""

    def __init__(self, tree: Tree, solution: Tree | None):
        self.tree, self.solution = tree, solution

    def with_helpers(self, units: Sequence[Unit]) -> tuple[Unit, ...]:
        """These definitions and those that they use and the solution lacks.

        Those are helpers that they call, by their names or by a variable of the module, and methods that assign
        attributes of `self` which the solution has not.
        """
        units_found = list(units)
        for unit in units_found:  # the loop extends the list
            used_names = {getattr(node, "id", getattr(node, "attr", None)) for node in ast.walk(unit.node)}
            used_names |= {
                name for variable, names in self._names_by_global.items() if variable in used_names for name in names
            }
            own_attributes = attributes_of(unit.node) - self._attributes - self._of_equal_value(unit)
            for other in self.tree.units:
                is_called = (other.node.name in used_names and not other.node.name.startswith("__")) or (
                    other.owner is not None and other.owner.name in used_names
                )
                helps = is_called and self.twin(other) is None
                is_of_same_class = unit.owner is not None and other.owner is unit.owner
                assigns = is_of_same_class and bool(own_attributes & attributes_assigned_in(other.node))
                if (helps or assigns) and other not in units_found:
                    units_found.append(other)
        return tuple(units_found)

    @functools.cached_property
    def _names_by_global(self) -> dict[str, set[str]]:
        """For each variable of the module the names that its value uses: "Attention" for `attention = Attention()`."""
        names_by_global: dict[str, set[str]] = {}
        for statement in self.tree.module.body:
            if isinstance(statement, ast.Assign):
                used_names = {node.id for node in ast.walk(statement.value) if isinstance(node, ast.Name)}
                targets = (node for target in statement.targets for node in ast.walk(target))
                names_by_global |= {node.id: used_names for node in targets if isinstance(node, ast.Name)}
        return names_by_global

    @functools.cached_property
    def _attributes(self) -> set[str]:
        """The names of the attributes of `self` in the solution."""
        units = self.solution.units if self.solution is not None else ()
        return {name for unit in units for name in attributes_of(unit.node) | attributes_assigned_in(unit.node)}

    def _of_equal_value(self, unit: Unit) -> set[str]:
        """The learner's attributes of `self` that get from the constructor what one of the solution's gets."""
        twin = self.twin(unit)
        if twin is None:
            return set()
        values = {dump(value) for value in constructor_values(twin.owner).values()}
        return {name for name, value in constructor_values(unit.owner).items() if dump(value) in values}

    def twin(self, unit: Unit) -> Unit | None:
        """The solution's definition of the same name."""
        solution_units = self.solution.units if self.solution is not None else ()
        return next((candidate for candidate in solution_units if candidate.name == unit.name), None)

    @property
    def helpers(self) -> frozenset[str]:
        """The names of the learner's functions, classes, methods and global objects that the solution does not have."""
        solution_names = {unit.name for unit in self.solution.units} if self.solution is not None else set()
        classes = {name.partition(".")[0] for name in solution_names}
        own_names = {unit.owner.name for unit in self.tree.units if unit.owner is not None} - classes
        own_names |= {unit.node.name for unit in self.tree.units if unit.name not in solution_names}
        own_globals = {variable for variable, names in self._names_by_global.items() if names & own_names}
        return frozenset(own_names | own_globals)


@dataclass(frozen=True)
class Group:
    """Failed checks, and the definitions that may be to blame for them.

    base: changes that are made together with every edit. is_sure: whether the mistake is certainly in these
    definitions. is_untested: whether no replacement was tried to find them.
    """

    units: tuple[Unit, ...]
    checks: tuple[Check, ...]
    base: tuple[Change, ...] = ()
    is_sure: bool = False
    is_untested: bool = False


class Blame(Twins):
    """Replaces definitions of the learner's by the solution's. failing: the failed checks; probes: by their ids."""

    def __init__(
        self,
        examiner: Examiner,
        tree: Tree,
        trial: Trial,
        failing: tuple[Check, ...],
        probes: dict[str, Probe],
    ):
        path = paths.solution(examiner.exercise.folder)
        super().__init__(tree, Tree(path.read_text("utf-8")) if path.exists() else None)
        self.trial, self.failing, self.probes = trial, failing, probes

    def groups(self) -> list[Group]:
        """The failed checks, grouped by the definition that is to blame; one group of all where that is unknown."""
        everything = Group(self.tree.units, self.failing)
        if self.solution is None:
            return [everything]
        fixed = {unit.name: self.fixed((unit,)) for unit in self.tree.units if self.twin(unit) is not None}
        sufficient = [unit for unit in self.tree.units if len(fixed.get(unit.name, ())) == len(self.failing)]
        if sufficient:
            certain = len(sufficient) == 1 and self.is_only_suspect(sufficient[0])
            return [Group(self.with_helpers([unit]), self.failing, (), certain) for unit in sufficient[:2]]
        groups: list[Group] = []
        unassigned = list(self.failing)
        for unit in sorted(self.tree.units, key=lambda unit: -len(fixed.get(unit.name, ()))):
            own_checks = tuple(check for check in unassigned if check in fixed.get(unit.name, ()))
            if own_checks:
                groups.append(Group(self.with_helpers([unit]), own_checks))
                unassigned = [check for check in unassigned if check not in own_checks]
        if unassigned:
            groups += self._of_pairs(tuple(unassigned)) or self._of_classes(tuple(unassigned))
        return [*self._of_shared_helpers(groups), *groups] or [everything]

    def fixed(self, units: Sequence[Unit]) -> frozenset[Check]:
        """The failed checks that pass once these definitions are replaced by the solution's."""
        return self._passing(self.with_solution(self.swap(units), {unit.top for unit in units}))

    def swap(self, units: Sequence[Unit]) -> tuple[Change, ...]:
        """The changes that replace these definitions by the solution's."""
        owners = {id(unit.owner): unit.owner for unit in units if unit.owner is not None}
        changes = [change for owner in owners.values() for change in self._completion(owner)]
        for unit in units:
            twin, holder = self.twin(unit), unit.owner or self.tree.module
            assert twin is not None
            new = without_hints(twin.node)
            if unit.owner is not None and unit.node.name == "__init__":
                new = self._with_own_attributes(unit, twin)
            names = self._functions & names_in(new) - self._used_by(unit)
            new = Substitution(_solutions_names(names)).visit(copy.deepcopy(new)) if names else new
            changes.append(Change(holder, "body", holder.body.index(unit.node), new))
        return tuple(changes)

    @functools.cached_property
    def _functions(self) -> frozenset[str]:
        """The names of the functions that both the learner's file and the solution define."""
        trees = [tree.module.body for tree in (self.tree, self.solution) if tree is not None]
        names = [{node.name for node in body if isinstance(node, ast.FunctionDef)} for body in trees]
        return frozenset(names[0].intersection(*names[1:]))

    def _used_by(self, unit: Unit) -> frozenset[str]:
        """The names that a definition of the learner's uses, or its class, also by way of others; its own is one.

        What the solution's calls in its place beside these is the solution's too: the learner's may be wrong, and does
        no harm here.
        """
        defined = {node.name: node for node in self.tree.module.body if isinstance(node, (*FUNCTIONS, ast.ClassDef))}
        used_names: frozenset[str] = frozenset({(unit.owner or unit.node).name})
        newly_found = used_names
        while newly_found:
            used_names |= newly_found
            found = [names_in(defined[name]) for name in newly_found & defined.keys()]
            newly_found = frozenset[str]().union(*found) - used_names
        return used_names

    def _with_own_attributes(self, unit: Unit, twin: Unit) -> ast.AST:
        """The solution's constructor, which also keeps what it is called with by the learner's names of attributes.

        Only what cannot be wrong by itself: parameters as they are, and what the solution keeps by another name.
        """
        values = constructor_values(unit.owner)
        right = self._of_equal_value(unit)
        right |= {
            name
            for name, value in values.items()
            if all(isinstance(node, (ast.Name, ast.Tuple, ast.expr_context)) for node in ast.walk(value))
        }
        known = self._attributes | (values.keys() - right)
        maker = without_hints(twin.node)
        assert isinstance(maker, FUNCTIONS)
        body = [*maker.body, *_plain_assignments(unit.node, parameter_names(twin.node), known)]
        return ast.FunctionDef(maker.name, maker.args, body, maker.decorator_list, lineno=maker.lineno)

    def _completion(self, owner: ast.ClassDef) -> list[Change]:
        """The changes that give a class of the learner's what the solution's methods read of `self` and it lacks.

        These are other methods, and attributes that hold what the constructor is called with. The learner may have
        other names for them: without these the solution's method would fail in the learner's class.
        """
        units = self.solution.units if self.solution is not None else ()
        twins = [unit for unit in units if unit.owner is not None and unit.owner.name == owner.name]
        own_names = {unit.node.name for unit in self.tree.units if unit.owner is owner}
        missing = [without_hints(unit.node) for unit in twins if unit.node.name not in own_names]
        changes = [Change(owner, "body", None, [*owner.body, *missing])] if missing and "__init__" in own_names else []
        maker = next((unit for unit in self.tree.units if unit.name == f"{owner.name}.__init__"), None)
        twin = self.twin(maker) if maker is not None else None
        if maker is not None and twin is not None:
            assignments = _plain_assignments(twin.node, parameter_names(maker.node), attributes_assigned_in(owner))
            if assignments:
                changes.append(Change(maker.node, "body", None, [*maker.node.body, *assignments]))
        return changes

    def with_solution(self, changes: tuple[Change, ...], tops: set[int]) -> str:
        """The source with changes taken from the solution, and with the imports and helpers that those may need."""
        assert self.solution is not None
        source = self.tree.changed(changes, tops)
        defined = {node.name for node in self.tree.module.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        extra = [
            ast.unparse(node)
            for node in self.solution.module.body
            if isinstance(node, (ast.Import, ast.ImportFrom, ast.Assign))
            or (isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name not in defined)
        ]
        source += "\n".join(extra) + "\n"
        others = [node for node in self.solution.module.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
        while called := [node for node in others if f"{SOLUTIONS}{node.name}(" in source]:
            others = [node for node in others if node not in called]
            for node in called:
                own = Substitution(_solutions_names(self._functions)).visit(copy.deepcopy(without_hints(node)))
                own.name = f"{SOLUTIONS}{node.name}"
                source += ast.unparse(own) + "\n"
        return source

    def is_only_suspect(self, unit: Unit) -> bool:
        """Whether no other method of its class can hold the mistake, as replacing any other one does not help.

        This says nothing where the code fails with a method of the solution's, as the two do not fit together.
        """
        if unit.owner is None:
            return True
        other_methods = [method for method in self.tree.units if method.owner is unit.owner and method is not unit]
        twins = [method for method in other_methods if self.twin(method) is not None]
        return all(self._still_runs(method) for method in twins)

    def _still_runs(self, unit: Unit) -> bool:
        """Whether the code with this definition of the solution's gives answers, right or wrong, and no exception."""
        requests = [request for probe in self.probes.values() for request in probe.requests]
        source = self.with_solution(self.swap((unit,)), {unit.top})
        answer = next(iter(self.trial.answers([source], requests)), None)
        return answer is not None and not any(b'"error"' in body[: 1 << 12] for body in answer)

    def _passing(self, source: str) -> frozenset[Check]:
        """The failed checks that this source passes. Their probes are asked first, as they cost little."""
        probed = [check for check in self.failing if check.id in self.probes]
        requests = [request for check in probed for request in self.probes[check.id].requests]
        answer = next(iter(self.trial.answers([source], requests)), None) if probed else None
        promising = [check for check in self.failing if check.id not in self.probes]
        if probed:
            position = 0
            rightly_answered = []
            for check in probed:
                position += len(self.probes[check.id].requests)
                if answer is not None and self.probes[check.id].fits(answer[position - 1]):
                    rightly_answered.append(check)
            if not rightly_answered:
                return frozenset()
            promising += rightly_answered
        if not self.trial.load(source):
            return frozenset()
        return frozenset(check for check in promising if self.trial.passes(check))

    def _of_pairs(self, unassigned: tuple[Check, ...]) -> list[Group]:
        """The groups of two definitions that are both wrong, so that replacing one of them fixes nothing."""
        units = [unit for unit in self.tree.units if self.twin(unit) is not None]
        pairs = [(first, second) for number, first in enumerate(units) for second in units[number + 1 :]]
        for first, second in pairs[:MAX_PAIRS]:
            if self.trial.is_over:
                break
            fixed = self.fixed((first, second))
            mended_checks = tuple(check for check in unassigned if check in fixed)
            if (
                mended_checks and first.owner is not None and first.owner is second.owner
            ):  # one may not fit the other's old form
                return [Group(self.with_helpers([first, second]), mended_checks)]
            if mended_checks:
                return [
                    Group(self.with_helpers([first]), mended_checks, self.swap((second,))),
                    Group(self.with_helpers([second]), mended_checks, self.swap((first,))),
                ]
        return []

    def _of_classes(self, unassigned: tuple[Check, ...]) -> list[Group]:
        """The group of all methods of a class, where the solution's class fixes what no single method does."""
        assert self.solution is not None
        for name in dict.fromkeys(unit.owner.name for unit in self.tree.units if unit.owner is not None):
            units = tuple(unit for unit in self.tree.units if unit.owner is not None and unit.owner.name == name)
            classes = [node for node in self.solution.module.body if isinstance(node, ast.ClassDef)]
            solution_class = next((node for node in classes if node.name == name), None)
            if solution_class is None or self.trial.is_over:
                continue
            new = without_hints(solution_class)
            beside = {node.name for node in classes if node.name != name} & names_in(new)
            if not any(self._asks_only(beside, probe) for probe in self.probes.values()):
                new = Substitution(_solutions_names(beside)).visit(copy.deepcopy(new))
            change = (Change(self.tree.module, "body", units[0].top, new),)
            fixed = self._passing(self.with_solution(change, {units[0].top}))
            mended_checks = tuple(check for check in unassigned if check in fixed)
            if mended_checks:
                return [Group(self.with_helpers(units), mended_checks)]
        return []

    @staticmethod
    def _asks_only(classes: set[str], probe: Probe) -> bool:
        """Whether a failed check is one of these classes alone. Where none is, they are taken for right."""
        return {name.partition(".")[0] for name in probe.names} <= classes

    def _of_shared_helpers(self, groups: list[Group]) -> list[Group]:
        """The group of helpers that several definitions call: a mistake in one of them shows in all."""
        shared = [unit for unit in self.tree.units if sum(unit in group.units[1:] for group in groups) > 1]
        checks = [check for group in groups if set(shared) & set(group.units) for check in group.checks]
        return [Group(tuple(shared), tuple(checks), is_untested=True)] if shared else []


def _solutions_names(names: Iterable[str]) -> dict[str, ast.expr]:
    """The names that functions of the solution have in a file of the learner's."""
    return {name: ast.Name(f"{SOLUTIONS}{name}", ast.Load()) for name in names}


def _plain_assignments(maker: Function, own_parameters: list[str], known: set[str]) -> list[ast.stmt]:
    """What a constructor of the solution's computes from its parameters without a call, and assigns to `self`.

    own_parameters: the learner's names of the parameters; known: the attributes that are left out.
    """
    names = {name: ast.Name(own, ast.Load()) for name, own in zip(parameter_names(maker), own_parameters)}
    found: list[ast.stmt] = []
    for name, value in attribute_values(maker).items():
        has_call = any(isinstance(child, ast.Call) for child in ast.walk(value))
        if name not in known and not has_call and names_read(value) <= set(names):
            target = ast.Attribute(ast.Name(own_parameters[0], ast.Load()), name, ast.Store())
            found.append(ast.Assign([target], Substitution(names).visit(copy.deepcopy(value)), lineno=0))
    return found


@functools.lru_cache(256)
def without_hints(definition: ast.AST) -> ast.AST:
    """A definition of the solution's without type hints, which may name what the learner's file does not have."""
    bare = copy.deepcopy(definition)
    for node in ast.walk(bare):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, FUNCTIONS):
            node.returns = None
    return bare


@dataclass(frozen=True)
class Place:
    """Where the mistake of a failed check is.

    lines: of the learner's file, counted from 1; () where the definition alone is known. sentence: what the learner
    reads, a line of text for each place. evidence: how it was found: "repair", "several" (several changes together),
    "part" (a change fixes some of the checks), "message",
    "construct" or "definition".
    """

    lines: tuple[int, ...]
    sentence: str
    evidence: str


def at_lines(source: str, source_lines: Sequence[str], lines: tuple[int, ...], evidence: str, kind: str = "") -> Place:
    """A place of lines. The sentence names them, the code of a single one, and the kind of change that helped.

    source: as it was submitted; source_lines: its lines.
    """
    code = source_lines[lines[0] - 1].strip() if lines[0] <= len(source_lines) else ""
    code = inert(code) if len(code) <= MAX_CODE else f"{inert(code[: MAX_CODE - 1])}…"
    location = f"{place(source, lines[0])}, `{code}`" if len(lines) == 1 else f"lines {_listed(lines)}"
    if len(lines) > 1 and is_notebook(source):
        location = "; ".join(place(source, line) for line in lines)
    return Place(lines, f"Look at {location}{f': {kind}' if kind else ''}.", evidence)


def in_definition(group: Group, tree: Tree) -> Place | None:
    """The place that is a definition alone: for a method its class, where another method might be wrong."""
    blamed, *helpers = group.units
    if len(group.units) > len(tree.units) // 2 + 1:
        owners = {unit.owner.name if unit.owner is not None else "" for unit in group.units}
        if len(owners) > 1 and len(group.units) < len(tree.units) and blamed.owner is not None:  # a class with helpers
            is_whole = all(unit in group.units for unit in tree.units if unit.owner is blamed.owner)
            owners = {blamed.owner.name} if is_whole else owners
        owner = owners.pop() if len(owners) == 1 else ""
        return Place((), f"The mistake is in the class {owner}.", "definition") if owner else None
    name = f"the class {blamed.owner.name}" if blamed.owner is not None and not group.is_sure else blamed.name
    blamed_class = None if group.is_sure or blamed.owner is None else blamed.owner
    helper_names = [unit.name for unit in helpers if blamed_class is None or unit.owner is not blamed_class]
    addition = f", or in what it calls: {', '.join(helper_names)}" if helper_names else ""
    return Place((), f"The mistake is in {name}{addition}.", "definition")


def both(first: Place, second: Place) -> Place:
    """The two places for which a check fails, as one."""
    if set(second.lines) <= set(first.lines):
        return first
    return Place((*first.lines, *second.lines), f"{first.sentence}\n{second.sentence}", first.evidence)


def certain_line(failure: Failure) -> int:
    """The line of a forbidden function, or of a name with a slip in it, for the mistake is nowhere else; or 0."""
    error = failure.error
    if isinstance(error, LearnerError) and error.facts.get("type") == "NameError":
        return error.frame[0] if SUGGESTION.search(str(error.facts.get("message", ""))) else 0
    return failure.uses_at


def lines_in_place(failure: Failure, source: str) -> tuple[int, ...]:
    """The lines that write into an argument, for a check that fails since one was changed; () for any other."""
    error = failure.error
    message = str(error.facts.get("message")) if isinstance(error, LearnerError) else ""
    if getattr(error, "cause", None) != IN_PLACE and not re.match(WRITES_INTO_A_LEAF, message):
        return ()
    return tuple(sorted({fault["line"] for fault in faults_in_place(source, frozenset({failure.last_called}))}))


def head_line(failure: Failure, tree: Tree) -> int:
    """The line of the definition that cannot be called as the check calls it; 0 where the failure is another."""
    error = failure.error
    if not isinstance(error, LearnerError) or error.kind != "signature" or error.call is None:
        return 0
    owner, _, method = error.call.function.partition(".")
    names = (owner, f"{owner}.__init__") if not method else (f"{owner}.{METHODS.get(method, method)}",)
    return next((unit.node.lineno for unit in tree.units if unit.name in names), 0)


def _listed(lines: tuple[int, ...]) -> str:
    return f"{', '.join(map(str, lines[:-1]))} and {lines[-1]}"
