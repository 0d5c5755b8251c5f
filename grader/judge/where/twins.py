"""What the learner's source and the solution have in common by name, and what is the learner's own."""

import ast
import functools
from collections.abc import Sequence

from grader.judge.where.edits import Tree, Unit
from grader.judge.where.nodes import attributes_of, made_in


class Twins:
    """The definitions of a source beside those of the solution; solution: None where there is none."""

    def __init__(self, tree: Tree, solution: Tree | None):
        self.tree, self.solution = tree, solution

    def with_helpers(self, units: Sequence[Unit]) -> tuple[Unit, ...]:
        """The units, and what the solution does not have: helpers that they call, and what makes own parts of self."""
        reached = list(units)
        for unit in reached:  # the loop extends the list
            named = {getattr(node, "id", getattr(node, "attr", None)) for node in ast.walk(unit.node)}
            parts = attributes_of(unit.node) - self._attributes
            for other in self.tree.units:
                called = other.node.name in named or (other.owner is not None and other.owner.name in named)
                helps = called and self.twin(other) is None
                makes = unit.owner is not None and other.owner is unit.owner and bool(parts & made_in(other.node))
                if (helps or makes) and other not in reached:
                    reached.append(other)
        return tuple(reached)

    @functools.cached_property
    def own(self) -> frozenset[str]:
        """The names of the learner's helpers, and of the parts of `self` that the solution does not have."""
        parts = {name for unit in self.tree.units for name in attributes_of(unit.node)}
        return self.helpers | frozenset(parts - self._attributes)

    @functools.cached_property
    def _attributes(self) -> set[str]:
        """Of the parts of `self` that the solution names."""
        units = self.solution.units if self.solution is not None else ()
        return {name for unit in units for name in attributes_of(unit.node) | made_in(unit.node)}

    def twin(self, unit: Unit) -> Unit | None:
        """The solution's definition of the same name."""
        theirs = self.solution.units if self.solution is not None else ()
        return next((other for other in theirs if other.name == unit.name), None)

    @property
    def helpers(self) -> frozenset[str]:
        """The names of the learner's functions, classes and methods that the solution does not have."""
        ours = {unit.name for unit in self.solution.units} if self.solution is not None else set()
        classes = {name.partition(".")[0] for name in ours}
        own = {unit.owner.name for unit in self.tree.units if unit.owner is not None} - classes
        return frozenset(own | {unit.node.name for unit in self.tree.units if unit.name not in ours})
