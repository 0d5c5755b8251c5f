"""The proxy of a function, a class or a method of the learner's: calling it asks the worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from grader.catalog import Forbidden
from grader.judge import dispatched
from grader.judge.proxy import call_text
from grader.judge.proxy.held_object import HeldObject, Proxy, without_objects
from grader.judge.proxy.tensors import demand_same_device
from grader.records.seeds import part, torch_seed
from grader.sandbox.call_results import Call, LearnerError
from grader.worker import protocol, wire
from grader.worker.codec import Encoder
from grader.worker.protocol import Reply

if TYPE_CHECKING:
    from grader.judge.proxy.learner import Learner  # which imports this module

# What a Call says that was asked for.
WANTS = {
    protocol.Call: "output", protocol.CallWithInputs: "inputs", protocol.CallForGradients: "gradients",
    protocol.CallWithOperations: "output", protocol.CallForGraph: "graph",
}  # fmt: skip


class StoodIn(Exception):
    """A call would need an object of the learner's and a function of the solution's, or the reverse."""


class Target(Proxy):
    """A callable on the learner's side. Calling it asks the worker; arguments travel as data.

    seed: an int, or a state of torch's generator (`torch.get_rng_state()`), set before the call.
    watch: the rule that this call must keep; a forbidden operation in it is added to the learner's hits.
    measured: the memory of the call is measured: it is made on the CPU, by a worker without the forbidden functions.
    owner: the class whose method this is: a method that hung on one object is not called on another.
    """

    def __init__(self, learner: Learner, path: list[Any], text: str, outline: str = "", owner: str = ""):
        self._learner, self._path, self._text, self._outline = learner, path, text, outline or text
        self._owner = owner

    @property
    def name(self) -> str:
        """The name of the function or class; of a method the call in words."""
        return str(self._path[0]) if isinstance(self._path[0], str) else self._text

    @property
    def cotangent_seed(self) -> int:
        """The seed of the random numbers by which `gradients` multiplies a result."""
        return torch_seed(part(self._learner._seed))

    def __call__(
        self,
        *args: Any,
        seed: Any = None,
        watch: Forbidden | None = None,
        state: Any = None,
        measured: bool = False,
        **kwargs: Any,
    ) -> Any:
        result, _ = self._call(protocol.Call, args, kwargs, seed, watch, measured=measured)
        if isinstance(result, HeldObject):
            result.created(*self._described(args, kwargs), state, self._learner._device)
        return result

    def gradients(self, *args: Any, seed: Any = None, measured: bool = False, **kwargs: Any) -> dict[str, torch.Tensor]:
        """Gradients of sum(result × fixed random numbers), for each argument and parameter."""
        gradients: dict[str, torch.Tensor]
        gradients, _ = self._call(
            protocol.CallForGradients, args, kwargs, seed, measured=measured, cotangent_seed=self.cotangent_seed
        )
        return gradients

    def inputs_after(self, *args: Any, seed: Any = None, **kwargs: Any) -> list[Any]:
        """The arguments [args, kwargs] as they are after the call."""
        return list(self.with_inputs(*args, seed=seed, **kwargs)[1])

    def with_inputs(self, *args: Any, seed: Any = None, **kwargs: Any) -> tuple[Any, ...]:
        """The result, and the arguments [args, kwargs] as they are after the same call."""
        values, _ = self._call(protocol.CallWithInputs, args, kwargs, seed)
        is_whole = type(values) is list and len(values) == 3 and [type(value) for value in values[1:]] == [list, dict]
        if not is_whole or len(values[1]) != len(args) or values[2].keys() != kwargs.keys():
            raise LearnerError("protocol", {"message": "the arguments did not come back"}, self._learner.calls[-1])
        return values[0], values[1:]

    def with_graph(self, *args: Any, seed: Any = None, **kwargs: Any) -> tuple[Any, ...]:
        """The result, whether any module's result in the call has a graph for gradients, whether grad mode is on after.

        The result alone does not tell it where it holds no float, as a list of tokens.
        """
        values, _ = self._call(protocol.CallForGraph, args, kwargs, seed)
        if type(values) is not list or [type(value) for value in values[1:]] != [bool, bool]:
            raise LearnerError("protocol", {"message": "nothing was told of graphs"}, self._learner.calls[-1])
        return tuple(values)

    def on_meta(self, *args: Any, seed: Any = None, **kwargs: Any) -> Any:
        """The result for tensors on a device "meta" that is not the CPU; each says in `facts` where it is."""
        return self._call(protocol.Call, args, kwargs, seed, device="meta")[0]

    def operations(self, *args: Any, seed: Any = None, **kwargs: Any) -> list[dispatched.Operation]:
        """What torch ran in the call, in order."""
        _, reply = self._call(protocol.CallWithOperations, args, kwargs, seed)
        try:
            return dispatched.operations(reply, self._learner.source)
        except wire.ProtocolError as error:
            raise LearnerError("protocol", {"message": str(error)}, self._learner.calls[-1]) from None

    def _call(
        self,
        kind: type[protocol.Call],
        args: Any,
        kwargs: Any,
        seed: Any,
        watch: Forbidden | None = None,
        device: str = "",
        measured: bool = False,
        **options: Any,
    ) -> tuple[Any, Reply]:
        """Make a call of this kind on the learner's side, and take note of it. Returns the value and the reply."""
        learner = self._learner
        if any(isinstance(value, HeldObject) and value._learner is not learner for value in (*args, *kwargs.values())):
            raise StoodIn
        encoder = Encoder(keep=lambda value: value.handle if isinstance(value, HeldObject) else None, strides=True)
        seed = torch_seed(part(learner._seed, len(learner.calls))) if seed is None else seed
        text, outline = self._described(args, kwargs)
        call = Call(text, self._function(), WANTS[kind], seed=seed, outline=outline)
        learner.calls.append(call)
        device = "cpu" if measured else device or learner._device
        watch = None if measured else watch or learner.watched.get(self.name)
        request = kind(
            target=self._path,
            args=["list", [encoder.node(value) for value in args]],
            kwargs=["dict", [[name, encoder.node(value)] for name, value in kwargs.items()]],
            seed=encoder.node(seed),
            device=device,
            banned=list(watch.names if watch else ()),
            allowed=list(watch.allowed if watch else ()),
            **options,
        )
        value, reply = learner._exchange(request, encoder, call)
        value = self._in_lessons_words(value)
        call.value, call.computed = without_objects(value), reply.computed is not False
        if watch and reply.hits:
            learner.hits.setdefault(self.name, learner._confirmed_hit(reply.hits[0], watch))
        demand_same_device(value, args, kwargs, device)
        return value, reply

    def _in_lessons_words(self, value: Any) -> Any:
        """A value by the lesson's names of parameters."""
        return value

    def _function(self) -> str:
        """The name under which a function that hung is remembered."""
        return f"{self._owner}.{self._path[1]}" if self._owner else self._path[0]

    def _described(self, args: Any, kwargs: Any) -> tuple[str, str]:
        """The call in words, and the same without hidden values."""
        return call_text.described(self._text, args, kwargs), call_text.outlined(self._outline, args, kwargs)
