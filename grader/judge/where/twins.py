"""The definitions that the learner's source and the solution have in common by name, and those that it alone has."""

import ast
import functools
from collections.abc import Sequence

from grader.judge.where.edits import Tree, Unit
from grader.judge.where.nodes import attributes_assigned_in, attributes_of


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
            own_attributes = attributes_of(unit.node) - self._attributes
            for other in self.tree.units:
                is_called = other.node.name in used_names or (
                    other.owner is not None and other.owner.name in used_names
                )
                helps = is_called and self.twin(other) is None
                is_of_same_class = unit.owner is not None and other.owner is unit.owner
                assigns = is_of_same_class and bool(own_attributes & attributes_assigned_in(other.node))
                if (helps or assigns) and other not in units_found:
                    units_found.append(other)
        return tuple(units_found)

    @functools.cached_property
    def own(self) -> frozenset[str]:
        """The names of the learner's helpers, and of the attributes of `self` that the solution does not have."""
        attributes = {name for unit in self.tree.units for name in attributes_of(unit.node)}
        return self.helpers | frozenset(attributes - self._attributes)

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
