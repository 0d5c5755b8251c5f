"""The names that an edit in a definition may use."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.judge.where import nodes
from grader.judge.where.edits import Unit


@dataclass
class Scope:
    """The names that an edit in a function may use.

    values: parameters and local variables; attributes: those of `self`; layers: attributes that are called; functions:
    the source's own that can be called with one argument; unused: values that are computed and read nowhere; unread:
    parameters that are read nowhere.
    """

    values: list[str] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)
    layers: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    @property
    def dims(self) -> list[str]:
        """The names that may stand for a dimension."""
        return [name for name in self.values if name in ("dim", "axis", "d")]

    @classmethod
    def of(cls, unit: Unit, units: Sequence[Unit] = ()) -> "Scope":
        """The scope of a definition. units: all of the source."""
        parameters = [parameter.arg for parameter in nodes.parameters(unit.node)]
        self_name = parameters.pop(0) if unit.owner is not None and parameters else ""
        stored = [node.id for node in ast.walk(unit.node) if isinstance(node, ast.Name) and _is_stored(node)]
        attributes, layers = [], []
        for node in ast.walk(unit.owner) if unit.owner is not None else ():
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == (self_name or "self")
            ):
                attributes.append(node.attr)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                owner = node.func.value
                if isinstance(owner, ast.Name) and owner.id == (self_name or "self"):
                    layers.append(node.func.attr)
        read = {node.id for node in ast.walk(unit.node) if isinstance(node, ast.Name) and not _is_stored(node)}
        functions = [call for other_unit in units if other_unit is not unit and (call := _call_of_one(other_unit))]
        unused = [name for name in stored if name not in read and name != "_"]
        unread = [name for name in parameters if name not in read]
        lists = ([*parameters, *stored], parameters, attributes, layers, functions, unused, unread)
        unique = [list(dict.fromkeys(names)) for names in lists]
        return cls(*unique)


def _call_of_one(unit: Unit) -> str:
    """The name by which a function or static method of one argument is called; "" for any other."""
    arguments = unit.node.args
    required = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    is_static = any(
        isinstance(decorator, ast.Name) and decorator.id == "staticmethod" for decorator in unit.node.decorator_list
    )
    return unit.name if required == 1 and (unit.owner is None or is_static) else ""


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)
