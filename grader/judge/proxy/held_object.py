"""The interface of objects that stay in the worker, which all parts of the proxy use. module.py implements it."""

from typing import Any

import torch

from grader.worker.codec import Handle


class Proxy:
    """A proxy of a part of the learner's module. It keeps all calls of its learner in memory."""


class HeldObject(Proxy):
    """An object of the learner's that stays in the worker.

    class_name: the name of its class, "" where the worker may have made the name up.
    """

    class_name: str
    _learner: Any

    @property
    def handle(self) -> Handle:
        """The representation of the object in a request."""
        raise NotImplementedError

    def created(self, text: str, outline: str, state: Any, device: str) -> None:
        """Note the call that made the object, load its parameters from `state` (None: leave them), and move it."""
        raise NotImplementedError


def without_objects(value: Any) -> Any:
    """The value with a handle in the place of each object, which would keep all calls of its learner alive."""
    if isinstance(value, HeldObject):
        return value.handle
    if isinstance(value, dict):
        return {key: without_objects(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(without_objects, value))
    attributes = vars(value).values() if hasattr(value, "__dict__") and not isinstance(value, torch.Tensor) else ()
    return None if any(isinstance(attribute, Proxy) for attribute in attributes) else value
