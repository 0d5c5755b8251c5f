"""The proxy: what a check calls as if it were the learner's module.

    weights = learner.attention_weights(inputs)              # a call in the worker
    grads = learner.attention_weights.gradients(inputs)      # true gradients, by argument
    layer = learner.SelfAttention_v1(3, 2, seed=123)         # an object that stays there
    context = layer(inputs)

The same proxy stands before the solution (`reference`), run in the grader's own process.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from grader.catalog import Forbidden
from grader.judge import dispatched, launched, renaming
from grader.judge.compare import Mismatch, differ
from grader.judge.words import kind, shape_words, shorten
from grader.records.seeds import part, torch_seed
from grader.sandbox.call_results import Call, Differs, LearnerError
from grader.sandbox.connection import Connection
from grader.worker import protocol, wire
from grader.worker.call_state import SHARED
from grader.worker.codec import Decoder, Encoder, Handle, Opaque
from grader.worker.fake_device import tensors_in
from grader.worker.gradients import NO_GRADIENT
from grader.worker.protocol import Reply, Request

DEVICES = ("cpu", "cuda", "mps", "meta")
METHOD = "a method"  # as the worker describes one
MAX_VALUE, MAX_NAMES = 60, 300  # characters of one argument, and of the names of parameters
ADDRESS = " at 0x"  # stands in what Python writes of an object that has no words of its own
RECORDED = ("operations", "launches")  # requests for an output, with what ran in the call


def demand_same_device(value: Any, args: Any, kwargs: Any, device: str) -> None:
    """Raise Mismatch where a result is on another device than the inputs, or has no values."""
    has_inputs = bool(tensors_in([args, kwargs]))
    for tensor in tensors_in(value):
        actual = device_of(tensor)
        if has_inputs and actual != device:
            where = f"the device {actual}" if actual in DEVICES else "another device"
            stand_in = "a stand-in device, which is tried since not every machine has a GPU"
            theirs = stand_in if device == "meta" else device
            raise Mismatch(f"the result is on {where}, the inputs are on {theirs}")
        if actual == "meta" != device:
            raise Mismatch("the result is on the device meta: it has a shape, but no values")


def device_of(tensor: torch.Tensor) -> str:
    """The device of a tensor, as the worker tells it."""
    return "meta" if tensor.device.type == "meta" else str(tensor.facts["device"])  # type: ignore[attr-defined]


def describe_call(function: str, args: Any, kwargs: Any, is_outline: bool = False) -> str:
    """The call as the learner reads it: "attention_weights(tensor (6, 3))".

    is_outline: without values that may be hidden inputs, "encode(a str, a dict)". It shows sizes and switches.
    """
    text = _outline if is_outline else _value
    keyword_texts = [f"{name}={text(value)}" for name, value in kwargs.items()]
    return f"{function}({', '.join([*map(text, args), *keyword_texts])})"


def without_objects(value: Any) -> Any:
    """The value with a handle in the place of each object, which would keep all calls of its learner alive."""
    if isinstance(value, Module):
        return value.handle
    if isinstance(value, dict):
        return {key: without_objects(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(without_objects, value))
    attributes = vars(value).values() if hasattr(value, "__dict__") and not isinstance(value, torch.Tensor) else ()
    return None if any(isinstance(attribute, (Learner, Target)) for attribute in attributes) else value


def demand_module(facts: Any, class_name: str, values: bool) -> dict[str, Any]:
    """The description of an object of this class. values: whether it holds the values of the parameters.

    Raises Mismatch where the object is no torch.nn.Module or a parameter is none, LearnerError where the form is wrong.
    """
    if not isinstance(facts, dict):
        raise no_module(class_name)
    if not _is_description(facts):
        raise LearnerError("protocol", {"message": "the description of the object is none of ours"})
    for value in facts["parameters"].values():
        if not isinstance(value, torch.Tensor):
            raise Mismatch(f"a parameter of {class_name} is {kind(value)}; expected a tensor of numbers")
        if values and device_of(value) == "meta":
            raise Mismatch(f"a parameter of {class_name} is on the device meta: it has no values")
    return facts


def no_module(class_name: str) -> Mismatch:
    """The error for an object that is no torch.nn.Module."""
    return Mismatch(f"{class_name} is not a torch.nn.Module. Write class {class_name}(nn.Module)")


class Learner:
    """What a check sees: every attribute is a function or class of the learner's file.

    follows: the calls of an earlier run of the check. The first answer that differs from them raises Differs.
    """

    def __init__(
        self, connection: Connection, device: str = "cpu", seed: int = 0, follows: Sequence[Call] | None = None
    ):
        self._connection, self._device, self._seed, self._follows = connection, device, seed, follows
        self.calls: list[Call] = []
        self.notes: list[str] = []  # what a passed check tells the learner
        self.rules: dict[str, Forbidden] = {}  # by function: what forbids ready-made ones in it
        # By name, the proxy before the solution whose function is called in the place of a wrong one of the learner's.
        self.stand_ins: Mapping[str, Learner] = {}
        self.map_of: dict[str, int] = {}  # by class with renamed parameters: the number of the map that is right

    @property
    def source(self) -> str:
        """The learner's source."""
        return self._connection.source

    def __getattr__(self, name: str) -> Target:
        if name.startswith("_"):
            raise AttributeError(name)
        return Target(self.stand_ins.get(name, self), [name], name)

    def _begin(self, seed: int) -> None:
        """Begin a new check: forget the objects and calls of the last one."""
        self._seed, self.calls, self.notes = seed, [], []
        if self._connection.is_alive:
            with contextlib.suppress(LearnerError):  # a worker that ends or hangs here is replaced at the next call
                self._exchange(protocol.Forget())

    def _hold(self, tensor: torch.Tensor) -> Module:
        """A tensor that stays in the worker, on the learner's device: an argument of several calls is the same one."""
        encoder = Encoder(strides=True)
        held: Module = self._exchange(protocol.Hold(encoder.node(tensor), self._device), encoder)[0]
        held.class_name = held._text = held._outline = _value(tensor)
        return held

    def _note(self, call: Call) -> None:
        """Take note of a call whose answer is there already."""
        self.calls.append(call)
        self._compare(call.value, None)

    def _exchange(self, request: Request, encoder: Encoder | None = None, call: Call | None = None) -> tuple[Any, ...]:
        """The value in the reply to a request, and the reply. Raises LearnerError where there is no value."""
        try:
            tensors, function = encoder.tensors if encoder else [], call.function if call else ""
            reply, tensors = self._connection.exchange(request, tensors, function)
            demand_value(reply)
            value = Decoder(tensors, self._object).value(reply.value)
        except (LearnerError, wire.ProtocolError) as error:
            problem = error if isinstance(error, LearnerError) else LearnerError("protocol", {"message": str(error)})
            problem.call = call
            if call:
                call.problem = problem
            self._compare(None, problem)
            raise problem from None
        if call is not None:
            call.value = value if reply.launches is None else launched.answer(value, reply)
            self._compare(call.value, None)
        return value, reply

    def _compare(self, value: Any, problem: LearnerError | None) -> None:
        """Raise Differs where the answer to the last call is not that of the earlier run."""
        if self._follows is not None:
            index = len(self.calls) - 1
            if index >= len(self._follows) or differ(Call("", "", "", value, problem), self._follows[index]):
                raise Differs

    def _object(self, number: int, class_name: str) -> Module:
        return Module(self, number, self._connection.words.class_of(class_name, torch.nn))


def demand_value(reply: Reply) -> None:
    """Raise LearnerError where the reply tells why there is no value."""
    if reply.error:
        raise LearnerError("exception", reply.error)
    if reply.missing:
        raise LearnerError("missing", {"missing": reply.missing, "names": reply.names})
    if reply.signature:
        raise LearnerError("signature", {"signature": reply.signature})
    if reply.gradient:
        if reply.gradient not in NO_GRADIENT:
            raise wire.ProtocolError("the reason for a missing gradient is none of ours")
        raise LearnerError("gradient", {"message": reply.gradient})


class StoodIn(Exception):
    """A call would need an object of the learner's and a function of the solution's, or the reverse."""


@contextlib.contextmanager
def on_cpu(learner: Learner) -> Iterator[None]:
    """The calls in the block compute on the CPU, also where a GPU grades, and what they make stays there.

    For calls that draw random numbers: a GPU draws others.
    """
    device, learner._device = learner._device, "cpu"
    try:
        yield
    finally:
        learner._device = device


class Target:
    """A callable on the learner's side. Calling it asks the worker; arguments travel as data.

    seed: an int, or a state of torch's generator (`torch.get_rng_state()`), set before the call.
    measured: the memory of the call is measured: it is made on the CPU, by a worker without the forbidden functions.
    kept: the result stays in the worker, whatever it is, and an object stands for it.
    times: how often the call is made, each time with new copies of the tensors that are passed in.
    owner: the class whose method this is: a method that hung on one object is not called on another.
    """

    def __init__(self, learner: Learner, path: list[Any], text: str, outline: str = "", owner: str = ""):
        self._learner, self._path, self._text, self._outline = learner, path, text, outline or text
        self._owner = owner

    @property
    def name(self) -> str:
        """The name of the function or class; of a method the call in words."""
        return str(self._path[0]) if isinstance(self._path[0], str) else self._text

    def static(self, name: str) -> Target:
        """A static method of this class: `learner.MyFunction.static("apply")`."""
        return Target(self._learner, [self._path[0], name], f"{self._text}.{name}")

    @property
    def cotangent_seed(self) -> int:
        """The seed of the random numbers by which `gradients` multiplies a result."""
        return torch_seed(part(self._learner._seed))

    def __call__(
        self,
        *args: Any,
        seed: Any = None,
        state: Any = None,
        measured: bool = False,
        kept: bool = False,
        times: int = 1,
        **kwargs: Any,
    ) -> Any:
        if state is not None and not isinstance(state, Mapping):  # the code has an argument of this name
            kwargs["state"], state = state, None
        result, _ = self._call("output", args, kwargs, seed, measured=measured, kept=kept, times=times)
        if isinstance(result, Module):
            result.created(*self._describe(args, kwargs), state, "cpu" if kept else self._learner._device)
        return result

    def read(self, kept: bool = False) -> Any:
        """The value of an attribute, read without parentheses; the value of a kept object as it is now."""
        value, _ = self._call("attribute", (), {}, None, kept=kept)
        if isinstance(value, Opaque) and value.description == METHOD:
            name = self._text.rpartition(".")[2]
            remedy = "make it an attribute or a property"
            raise Mismatch(f"{name} is a method, but it is read without parentheses: {remedy}")
        if kept and isinstance(value, Module):
            value.created(self._text, self._outline, None, "cpu")
        return value

    def gradients(self, *args: Any, seed: Any = None, measured: bool = False, **kwargs: Any) -> dict[str, torch.Tensor]:
        """Gradients of sum(result × fixed random numbers), for each argument and parameter."""
        number = self.cotangent_seed
        gradients: dict[str, torch.Tensor]
        gradients, _ = self._call("gradients", args, kwargs, seed, measured=measured, cotangent_seed=number)
        return gradients

    def inputs_after(self, *args: Any, seed: Any = None, **kwargs: Any) -> list[Any]:
        """The arguments [args, kwargs] as they are after the call."""
        return list(self.with_inputs(*args, seed=seed, **kwargs)[1])

    def with_inputs(self, *args: Any, seed: Any = None, **kwargs: Any) -> tuple[Any, ...]:
        """The result, and the arguments [args, kwargs] as they are after the same call; of a torch.Generator its state.

        `generator.get_state()` is what such a state is compared with.
        """
        values, _ = self._call("inputs", args, kwargs, seed)
        is_whole = type(values) is list and len(values) == 3 and [type(value) for value in values[1:]] == [list, dict]
        if not is_whole or len(values[1]) != len(args) or values[2].keys() != kwargs.keys():
            raise LearnerError("protocol", {"message": "the arguments did not come back"}, self._learner.calls[-1])
        return values[0], values[1:]

    def with_graph(self, *args: Any, seed: Any = None, **kwargs: Any) -> tuple[Any, ...]:
        """The result, whether any module's result in the call has a graph for gradients, whether grad mode stays on.

        And whether it stays off in a second call, under torch.no_grad. The result alone does not tell of a graph where
        it holds no float, as a list of tokens.
        """
        values, _ = self._call("graph", args, kwargs, seed)
        if type(values) is not list or [type(value) for value in values[1:]] != [bool] * 3:
            raise LearnerError("protocol", {"message": "nothing is known of graphs"}, self._learner.calls[-1])
        return tuple(values)

    def backward_entries(self, *args: Any, wanted: Sequence[bool], grad: torch.Tensor, seed: Any = None) -> list[Any]:
        """What the backward of a `torch.autograd.Function` returns for `grad`: one entry for each argument of `apply`.

        wanted: for each of the first arguments whether it requires a gradient. An empty list: no such Function made it.
        """
        entries, _ = self._call("backward", args, {}, seed, wanted=list(wanted), grad=grad)
        if type(entries) is not list:
            raise LearnerError("protocol", {"message": "the gradients did not come back"}, self._learner.calls[-1])
        return entries

    def with_memory(self, *args: Any, seed: Any = None, **kwargs: Any) -> tuple[Any, ...]:
        """The result, and "" or one of call_state.SHARED: how its tensors share their memory."""
        values, _ = self._call("memory", args, kwargs, seed)
        if type(values) is not list or len(values) != 2 or values[1] not in ("", *SHARED):
            raise LearnerError("protocol", {"message": "nothing is known of memory"}, self._learner.calls[-1])
        return tuple(values)

    def on(self, device: str, *args: Any, seed: Any = None, **kwargs: Any) -> Any:
        """The result for tensors on this device; `facts` says where each result is. "meta" is not the CPU."""
        return self._call("output", args, kwargs, seed, device=device)[0]

    def operations(self, *args: Any, seed: Any = None, **kwargs: Any) -> list[dispatched.Operation]:
        """What torch ran in the call, in order."""
        _, reply = self._call("operations", args, kwargs, seed)
        try:
            return dispatched.operations(reply, self._learner.source)
        except wire.ProtocolError as error:
            raise LearnerError("protocol", {"message": str(error)}, self._learner.calls[-1]) from None

    def launches(self, *args: Any, seed: Any = None, backwards: bool = False, **kwargs: Any) -> launched.Launched:
        """The result, with the kernels that were launched and what torch ran in the call.

        backwards: the programs of each launch run in reverse order. On a GPU nothing is recorded.
        """
        result, reply = self._call("launches", args, kwargs, seed, backwards=backwards)
        call = self._learner.calls[-1]
        call.value = launched.answer(call.value, reply)
        try:
            return launched.read(result, reply, self._learner.source, is_native=self._learner._device == "cuda")
        except wire.ProtocolError as error:
            raise LearnerError("protocol", {"message": str(error)}, call) from None

    def _call(
        self,
        want: str,
        args: Any,
        kwargs: Any,
        seed: Any,
        device: str = "",
        measured: bool = False,
        kept: bool = False,
        times: int = 1,
        **options: Any,
    ) -> tuple[Any, Reply]:
        """Make a call on the learner's side, and take note of it. Returns the value and the reply.

        want, options: see protocol.Call.
        """
        learner = self._learner
        if any(isinstance(value, Module) and value._learner is not learner for value in (*args, *kwargs.values())):
            raise StoodIn
        encoder = Encoder(keep=lambda value: value.handle if isinstance(value, Module) else None, strides=True)
        seed = torch_seed(part(learner._seed, len(learner.calls))) if seed is None else seed
        text, outline = (self._text, self._outline) if want == "attribute" else self._describe(args, kwargs)
        options = {name: encoder.node(value) if name == "grad" else value for name, value in options.items()}
        noted = "output" if want in RECORDED else want
        call = Call(text, self._function(), noted, seed=seed, outline=outline)
        learner.calls.append(call)
        device = "cpu" if measured else device or learner._device
        listed = ["list", [encoder.node(value) for value in args]]
        named = ["dict", [[name, encoder.node(value)] for name, value in kwargs.items()]]
        request = protocol.Call(self._path, listed, named, encoder.node(seed), device, kept, times, want, options)
        value, reply = learner._exchange(request, encoder, call)
        value = self._in_lessons_words(value)
        call.value = without_objects(value)
        demand_same_device(value, args, kwargs, device)
        return value, reply

    def _in_lessons_words(self, value: Any) -> Any:
        """A value by the lesson's names of parameters."""
        return value

    def _function(self) -> str:
        """The name under which a function that hung is remembered."""
        return f"{self._owner}.{self._path[1]}" if self._owner else self._path[0]

    def _describe(self, args: Any, kwargs: Any) -> tuple[str, str]:
        """The call in words, and the same without hidden values."""
        return describe_call(self._text, args, kwargs), describe_call(self._outline, args, kwargs, is_outline=True)


class Module(Target):
    """An object of the learner's in the worker: call it, or one of its methods (`layer.load_unfused(state)`).

    class_name: the name of its class, "" where the worker may have made the name up.
    """

    def __init__(self, learner: Learner, number: int, class_name: str):
        super().__init__(learner, [number, "__call__"], class_name, owner=class_name or "object")
        self._number, self.class_name = number, class_name
        self._names: dict[str, str] = {}  # the lesson's → the learner's, where they differ
        self._state: dict[str, torch.Tensor] = {}  # what was loaded by such a map

    @property
    def handle(self) -> Handle:
        """The representation of the object in a request."""
        return Handle(self._number, self.class_name)

    def created(self, text: str, outline: str, state: Any, device: str) -> None:
        """Note the call that made the object, load its parameters from `state` (None: leave them), and move it."""
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

    def __len__(self) -> int:
        texts = f"len({self._text})", f"len({self._outline})"
        length = Target(self._learner, [self._number, "__len__"], *texts, self._owner).read()
        if type(length) is not int:
            raise LearnerError("protocol", {"message": "a length is no int"}, self._learner.calls[-1])
        return length

    def __getitem__(self, index: int) -> Any:
        """What a kept tuple or list holds at this place, which is kept too."""
        texts = f"{self._text}.__getitem__", f"{self._outline}.__getitem__"
        item = Target(self._learner, [self._number, "__getitem__"], *texts, self._owner)(index, kept=True)
        item._text, item._outline = f"{self._text}[{index}]", f"{self._outline}[{index}]"
        return item

    def __bool__(self) -> bool:
        return True

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
        facts = demand_module(facts, self.class_name, values)
        class_of = self._learner._connection.words.class_of
        return facts | {"modules": {name: class_of(kind, torch.nn) for name, kind in facts["modules"].items()}}

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
        may_be_renamed = bool(reply.unknown and reply.surplus)
        if may_be_renamed and self._fit(parameters, self._facts(values=False, noted=False)["parameters"]):
            self._state, reply = parameters, self._assigned(parameters)
        unknown = [name for name in parameters if name in (reply.unknown or ())]
        surplus = shorten(", ".join(reply.surplus or ()), MAX_NAMES)
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

    def descend(self, *args: Any, loss: Target, steps: int, rate: float, seed: Any = None) -> torch.Tensor:
        """Take so many steps of gradient descent. Returns the mean of loss(module(*args), *args) before each of them.

        rate: what a gradient is multiplied by before it is taken off its parameter. The parameters stay as trained.
        """
        if loss._learner is not self._learner:
            raise StoodIn
        losses, _ = self._call("training", args, {}, seed, loss=loss._path, steps=steps, rate=rate)
        if not isinstance(losses, torch.Tensor) or losses.shape != (steps,):
            raise LearnerError("protocol", {"message": "the losses did not come back"}, self._learner.calls[-1])
        return losses

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


def _value(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        dtype = "" if value.dtype == torch.float32 else " " + str(value.dtype).removeprefix("torch.")
        return f"tensor {tuple(value.shape)}{dtype}{'' if value.is_contiguous() else ' non-contiguous'}"
    if type(value) in (list, tuple) and any(isinstance(item, torch.Tensor) for item in value):
        items = ", ".join(map(_value, value))  # torch prints a tensor on several lines
        text = f"[{items}]" if type(value) is list else f"({items})"
        return text if len(text) <= MAX_VALUE else kind(value)
    if isinstance(value, (list, tuple, dict)) and _is_long(value):
        return kind(value)
    if isinstance(value, Module):
        return value.class_name or value._text
    text = repr(value)
    return kind(value) if ADDRESS in text else shorten(text, MAX_VALUE)


def _is_long(value: Any) -> bool:
    """Whether a container takes more than MAX_VALUE characters. Torch prints slowly, so large tensors are counted."""
    return sum(tensor.numel() for tensor in tensors_in(value)) > MAX_VALUE or len(repr(value)) > MAX_VALUE


def _outline(value: Any) -> str:
    if isinstance(value, Module):
        return value.class_name or value._outline
    is_shown = isinstance(value, torch.Tensor) or type(value) in (int, bool, type(None))
    return _value(value) if is_shown else kind(value)


def _is_description(facts: dict[str, Any]) -> bool:
    tables = [table for name in ("parameters", "modules") if type(table := facts.get(name)) is dict]
    if len(tables) < 2 or type(facts.get("frozen")) is not list:
        return False
    names = [*facts["frozen"], *facts["modules"].values(), *(name for table in tables for name in table)]
    return all(type(name) is str for name in names) and type(facts.get("training")) is bool


def _shapes(parameters: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(getattr(value, "shape", value)) for name, value in parameters.items()}
