"""Swaps definitions of a source that a worker has loaded, as loading the whole source again takes far longer."""

from dataclasses import dataclass
from typing import Any

from grader.judge.where.edits import Change, Unit
from grader.judge.where.nodes import parameters
from grader.worker import protocol
from grader.worker.codec import Encoder

SWAP = "where_swap"
SUPPORT = f"""
_where_old = []
def {SWAP}(owner, text):
    while _where_old:
        put, name, value = _where_old.pop()
        put(name, value)
    space = {{}}
    exec(compile(text, {SWAP}.__code__.co_filename, "exec"), globals(), space)
    if not owner:
        for name, value in space.items():
            _where_old.append((globals().__setitem__, name, globals()[name]))
            globals()[name] = value
        return
    holder = globals()[owner]
    for name, value in vars(space[owner]).items():
        if name in ("__module__", "__dict__", "__weakref__", "__doc__"):
            continue
        function = getattr(value, "__func__", value)
        names = getattr(getattr(function, "__code__", None), "co_freevars", ())
        for free, cell in zip(names, getattr(function, "__closure__", None) or ()):
            if free == "__class__":
                cell.cell_contents = holder
        _where_old.append(((lambda name, value: setattr(holder, name, value)), name, vars(holder)[name]))
        setattr(holder, name, value)
"""
MAKERS = ("__init__", "__new__")


@dataclass(frozen=True)
class Swap:
    """A changed definition. owner: the name of its class, "" for a function. text: its code, as indented there.

    source: the whole changed source where the definition cannot be swapped alone, else "".
    """

    owner: str
    text: str
    source: str = ""

    def request(self) -> bytes:
        """The encoded request that puts the definition into a loaded source with SUPPORT at its end."""
        return call(SWAP, self.owner, f"class {self.owner}:\n{self.text}" if self.owner else self.text)


def can_be_swapped(unit: Unit, changes: tuple[Change, ...]) -> bool:
    """Whether nothing else in the loaded source depends on what is changed.

    The arguments of a class are read once, from its constructor; and all functions of a property have the same name.
    """
    if unit.owner is not None and any(
        getattr(decorator, "attr", "") in ("setter", "getter") for decorator in _decorators(unit)
    ):
        return False
    arguments = unit.node.args
    header_nodes = (arguments, unit.node, *parameters(unit.node))
    return unit.node.name not in MAKERS or not any(
        change.parent in header_nodes and change.field not in ("body", "returns") for change in changes
    )


def call(target: str, *arguments: Any) -> bytes:
    """The encoded request that calls a function of the source."""
    encoder = Encoder()
    nodes = ["list", [encoder.node(value) for value in arguments]]
    return protocol.encode_request(protocol.Call([target], nodes, ["dict", []], encoder.node(0)), encoder.tensors)


def _decorators(unit: Unit) -> list[Any]:
    return unit.node.decorator_list
