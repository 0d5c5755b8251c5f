"""The proxy of an object of the learner's: its methods, its parameters by name, its mode and its device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch

from grader.judge import renaming
from grader.judge.mismatch import Mismatch
from grader.judge.proxy.description import demand_module, no_module
from grader.judge.proxy.held_object import HeldObject
from grader.judge.proxy.target import Target
from grader.judge.words import shape_words
from grader.sandbox.call_results import Call
from grader.worker import protocol
from grader.worker.codec import Encoder, Handle
from grader.worker.protocol import Reply

if TYPE_CHECKING:
    from grader.judge.proxy.learner import Learner  # which imports this module


class Module(Target, HeldObject):
    """An object of the learner's: call it, or any of its methods (`layer.load_unfused(state)`)."""

    def __init__(self, learner: Learner, number: int, class_name: str):
        super().__init__(learner, [number, "__call__"], class_name, owner=class_name or "object")
        self._number, self.class_name = number, class_name
        self._names: dict[str, str] = {}  # the lesson's → the learner's, where they differ
        self._state: dict[str, torch.Tensor] = {}  # what was loaded by such a map

    @property
    def handle(self) -> Handle:
        return Handle(self._number, self.class_name)

    def created(self, text: str, outline: str, state: Any, device: str) -> None:
        self._text, self._outline = text, outline
        if state is not None:
            self.load(state)
        if device != "cpu":
            self.to(device=device)

    def __getattr__(self, name: str) -> Target:
        if name.startswith("_"):
            raise AttributeError(name)
        text, outline = f"{self._text}.{name}", f"{self._outline}.{name}"
        return Target(self._learner, [self._number, name], text, outline, self._owner)

    def describe(self, values: bool = True) -> dict[str, Any]:
        """parameters (shapes alone with `values=False`), frozen, modules (name → torch.nn class), training.

        Raises Mismatch where the object is no torch.nn.Module.
        """
        value = self._facts(values)
        lesson_names = {name: lesson for lesson, name in self._names.items()}
        parameters = {lesson_names.get(name, name): tensor for name, tensor in value["parameters"].items()}
        return value | {"parameters": parameters, "frozen": [lesson_names.get(name, name) for name in value["frozen"]]}

    def _facts(self, values: bool = True, noted: bool = True) -> dict[str, Any]:
        """The description by the learner's own names. noted: as a call of the check, which a diagnosis compares."""
        facts, _ = self._learner._exchange(protocol.Describe(self._number, values))
        if noted:
            parameters = facts.get("parameters") if isinstance(facts, dict) else None
            self._learner._note(Call(self._text, self.class_name, "describe", parameters, outline=self._outline))
        return demand_module(facts, self.class_name, values)

    def parameters(self, like: dict[str, Any] | None = None) -> dict[str, torch.Tensor]:
        """The parameters by name; by the names of `like` (tensors or shapes), where nothing but the names differs."""
        if like is None:
            parameters: dict[str, torch.Tensor] = self.describe()["parameters"]
            return parameters
        parameters_by_own_name = self._facts()["parameters"]
        lesson_names = {name: lesson for lesson, name in self._fit(like, parameters_by_own_name).items()}
        return {lesson_names.get(name, name): value for name, value in parameters_by_own_name.items()}

    def renamed(self, like: dict[str, Any]) -> dict[str, str]:
        """The lesson's names → the learner's, if only the names differ, otherwise {}. Both are safe to show."""
        names = self._fit(like, self._facts(values=False, noted=False)["parameters"])
        words = self._learner._connection.words
        return {lesson: ".".join(map(words.parameter_part, name.split("."))) for lesson, name in names.items()}

    def other_maps(self) -> Iterator[int]:
        """Load the parameters again under each other map of the names in turn, and at last under the first.

        Yields the number of each other map while its parameters are loaded.
        """
        parameters = self._facts(values=False, noted=False)["parameters"] if self._state else {}
        count = len(renaming.maps(_shapes(self._state), _shapes(parameters))) if parameters else 0
        for choice in (*range(1, count), 0) if count > 1 else ():
            self._learner.map_of[self.class_name] = choice
            self._fit(self._state, parameters)
            self.load(self._state)
            if choice:
                yield choice

    def _fit(self, like: dict[str, Any], parameters: dict[str, Any]) -> dict[str, str]:
        """Find the map from the names of `like` to those of `parameters`; {} where they are the same or no map fits."""
        self._names = {}
        if like.keys() != parameters.keys():
            maps = renaming.maps(_shapes(like), _shapes(parameters))
            choice = self._learner.map_of.get(self.class_name, 0)
            self._names = maps[min(choice, len(maps) - 1)] if maps else {}
        return self._names

    def _in_lessons_words(self, value: Any) -> Any:
        """Gradients by the lesson's names."""
        if not self._names or type(value) is not dict:
            return value
        lesson_keys = {f"parameter {name}": f"parameter {lesson}" for lesson, name in self._names.items()}
        return {lesson_keys.get(name, name): gradient for name, gradient in value.items()}

    def _assigned(self, parameters: dict[str, torch.Tensor]) -> Reply:
        """The reply to a request that sets the parameters. Raises Mismatch where the object is no module."""
        encoder = Encoder()
        by_own_name = {self._names.get(name, name): value for name, value in parameters.items()}
        reply: Reply = self._learner._exchange(protocol.Assign(self._number, encoder.node(by_own_name)), encoder)[1]
        if reply.unknown is None:
            raise no_module(self.class_name)
        return reply

    def load(self, parameters: dict[str, torch.Tensor]) -> None:
        """Set the parameters by name, also where nothing but their names differs from the learner's.

        Raises Mismatch where names or shapes do not fit.
        """
        reply = self._assigned(parameters)
        if (
            reply.unknown
            and reply.surplus
            and self._fit(parameters, self._facts(values=False, noted=False)["parameters"])
        ):
            self._state, reply = parameters, self._assigned(parameters)
        unknown = [name for name in parameters if name in (reply.unknown or ())]
        surplus = ", ".join(reply.surplus or ())[:300]
        if unknown:
            details = f"it has:  {surplus or 'none that fit'}"
            summary = f"{self.class_name} has no parameter called {', '.join(unknown)}"
            raise Mismatch(summary, details, renaming.ends(reply.surplus or ()))
        for name, shape, _ in reply.misshapen or ():
            if name in parameters:
                raise Mismatch(shape_words(tuple(shape), tuple(parameters[name].shape), f"the parameter {name}"))
        if reply.surplus:
            count = f"{len(reply.surplus)} parameter{'s' * (len(reply.surplus) > 1)}"
            ends = renaming.ends(reply.surplus)
            raise Mismatch(f"{self.class_name} has {count} too many", f"too many: {surplus}", ends)

    def to(self, device: str | None = None, dtype: torch.dtype | None = None) -> Module:
        """Move the object to a device, or convert its numbers to a dtype. Returns the object."""
        name = str(dtype).removeprefix("torch.") if dtype else None
        self._learner._exchange(protocol.Convert(self._number, device, name))
        return self

    def train(self, mode: bool = True) -> Module:
        """Switch training mode on or off. Returns the object."""
        self._learner._exchange(protocol.Convert(self._number, training=mode))
        return self

    def eval(self) -> Module:
        """Switch training mode off. Returns the object."""
        return self.train(False)


def _shapes(parameters: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(getattr(value, "shape", value)) for name, value in parameters.items()}
