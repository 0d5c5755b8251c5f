"""The proxy: what a check calls as if it were the learner's module.

    weights = learner.attention_weights(inputs)              # a call in the worker
    grads = learner.attention_weights.gradients(inputs)      # true gradients, by argument
    layer = learner.SelfAttention_v1(3, 2, seed=123)         # an object that stays there
    context = layer(inputs)

The same proxy stands before the solution (`reference`), run in the grader's own process.
"""

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import torch

from grader.catalog import Forbidden
from grader.judge import dispatched, renaming
from grader.judge.compare import Mismatch
from grader.judge.words import kind, shape_words
from grader.records.seeds import part, torch_seed
from grader.sandbox.call_results import Call, LearnerError
from grader.sandbox.local import Local
from grader.sandbox.remote import Remote
from grader.worker import protocol, wire
from grader.worker.codec import Decoder, Encoder, Handle
from grader.worker.gradients import NO_GRADIENT
from grader.worker.protocol import Reply, Request

DEVICES = ("cpu", "cuda", "mps", "meta")
# What a Call says that it asked for.
WANTS = {
    protocol.Call: "output", protocol.CallWithInputs: "inputs", protocol.CallForGradients: "gradients",
    protocol.CallWithOperations: "output", protocol.CallForGraph: "graph",
}  # fmt: skip


class Learner:
    """What a check sees: every attribute is a function or class of the learner's file."""

    def __init__(self, connection: Remote | Local, device: str = "cpu", seed: int = 0):
        self._connection, self._device, self._seed = connection, device, seed
        self.calls: list[Call] = []
        self.told: list[str] = []  # what a check tells the learner though it passes
        # Functions whose every call is watched, and the first forbidden operation seen in each: code that
        # remembers an answer would pass a single watched call.
        self.watched: dict[str, Forbidden] = {}
        self.hits: dict[str, list[Any]] = {}
        self.map_of: dict[str, int] = {}  # of a class whose parameters have other names: which of the maps is right

    @property
    def source(self) -> str:
        return self._connection.source

    def __getattr__(self, name: str) -> "Target":
        if name.startswith("_"):
            raise AttributeError(name)
        return Target(self, [name], name)

    def _begin(self, seed: int) -> None:
        """A new check: forget the objects and calls of the one before."""
        self._seed, self.calls, self.told = seed, [], []
        if self._connection.is_alive:
            with contextlib.suppress(LearnerError):  # a worker that ends or hangs now is replaced by the next call
                self._exchange(protocol.Forget())

    def _note(self, call: Call) -> None:
        self.calls.append(call)

    def _exchange(self, request: Request, encoder: Encoder | None = None, call: Call | None = None) -> tuple[Any, ...]:
        """The value in the reply to a request, and the reply. Raises LearnerError where there is no value."""
        try:
            tensors, function = encoder.tensors if encoder else [], call.function if call else ""
            reply, tensors = self._connection.exchange(request, tensors, function)
            _demand_value(reply)
            return Decoder(tensors, self._object).value(reply.value), reply
        except LearnerError as error:
            error.call = call
            if call:
                call.problem = error
            raise
        except wire.ProtocolError as error:
            raise LearnerError("protocol", {"message": str(error)}, call) from None

    def _vouched(self, hit: list[Any], rule: Forbidden) -> list[Any]:
        """What a hit says, where that cannot be a hidden input: a name of the rule's or the source's ("" else), and
        a line that holds a step of a computation (0 else)."""
        name, line = hit
        words = self._connection.words
        return [name if name in rule.names else words.vouched(name), line if words.computes(line) else 0]

    def _object(self, number: int, class_name: str) -> "Module":
        return Module(self, number, self._connection.words.class_of(class_name, torch.nn))


class Target:
    """A callable on the learner's side. Calling it asks the worker; arguments travel as data.

    seed: an int, or a state of torch's generator (`torch.get_rng_state()`), set before the call.
    watch: the rule that this call must keep; what it does against it stands in the Call.
    measured: the call's memory is measured: it is made on the CPU, and watched for names alone, which takes no time.
    owner: the class whose method this is; one that hangs on one object is not called on the next.
    """

    def __init__(self, learner: Learner, path: list[Any], text: str, outline: str = "", owner: str = ""):
        self._learner, self._path, self._text, self._outline = learner, path, text, outline or text
        self._owner = owner

    @property
    def name(self) -> str:
        return str(self._path[0]) if isinstance(self._path[0], str) else self._text

    @property
    def cotangent_seed(self) -> int:
        """Of the random numbers by which `gradients` multiplies a result."""
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
        result = self._call(protocol.Call, args, kwargs, seed, watch, measured=measured)
        if isinstance(result, Module):
            result._text, result._outline = self._described(args, kwargs)
            if state is not None:
                result.load(state)
            if self._learner._device != "cpu":
                result.to(device=self._learner._device)
        return result

    def gradients(self, *args: Any, seed: Any = None, measured: bool = False, **kwargs: Any) -> dict[str, torch.Tensor]:
        """Gradients of sum(result × fixed random numbers), for each argument and parameter."""
        found: dict[str, torch.Tensor] = self._call(
            protocol.CallForGradients, args, kwargs, seed, measured=measured, cotangent_seed=self.cotangent_seed
        )
        return found

    def inputs_after(self, *args: Any, seed: Any = None, **kwargs: Any) -> list[Any]:
        """The arguments [args, kwargs] as they are after the call."""
        return list(self.with_inputs(*args, seed=seed, **kwargs)[1])

    def with_inputs(self, *args: Any, seed: Any = None, **kwargs: Any) -> tuple[Any, ...]:
        """The result, and the arguments [args, kwargs] as they are after the same call."""
        found = self._call(protocol.CallWithInputs, args, kwargs, seed)
        alike = type(found) is list and len(found) == 3 and [type(part) for part in found[1:]] == [list, dict]
        if not alike or len(found[1]) != len(args) or found[2].keys() != kwargs.keys():
            raise LearnerError("protocol", {"message": "the arguments did not come back"}, self._learner.calls[-1])
        return found[0], found[1:]

    def with_graph(self, *args: Any, seed: Any = None, **kwargs: Any) -> tuple[Any, ...]:
        """The result, whether any module's result in the call has a graph for gradients, whether grad mode is on after.

        Of a model's result that holds no float nothing else tells it.
        """
        found = self._call(protocol.CallForGraph, args, kwargs, seed)
        if type(found) is not list or [type(part) for part in found[1:]] != [bool, bool]:
            raise LearnerError("protocol", {"message": "nothing was told of graphs"}, self._learner.calls[-1])
        return tuple(found)

    def on_meta(self, *args: Any, seed: Any = None, **kwargs: Any) -> Any:
        """The result for tensors on a device "meta" that is not the CPU; each says in `facts` where it is."""
        return self._call(protocol.Call, args, kwargs, seed, device="meta")

    def operations(self, *args: Any, seed: Any = None, **kwargs: Any) -> list[dispatched.Operation]:
        """What torch ran in the call, in order."""
        _, reply = self._asked(protocol.CallWithOperations, args, kwargs, seed)
        try:
            return dispatched.operations(reply, self._learner.source)
        except wire.ProtocolError as error:
            raise LearnerError("protocol", {"message": str(error)}, self._learner.calls[-1]) from None

    def _call(self, kind: type[protocol.Call], args: Any, kwargs: Any, seed: Any, *rest: Any, **options: Any) -> Any:
        """Make a call of this kind on the learner's side, and note it. Returns the value."""
        return self._asked(kind, args, kwargs, seed, *rest, **options)[0]

    def _asked(
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
        """As `_call`. Returns the value, and the reply that it came in."""
        learner = self._learner
        encoder = Encoder(keep=lambda value: value.handle if isinstance(value, Module) else None, strides=True)
        drawn = torch_seed(part(learner._seed, len(learner.calls))) if seed is None else seed
        text, outline = self._described(args, kwargs)
        call = Call(text, self._function(), WANTS[kind], seed=drawn, outline=outline)
        learner.calls.append(call)
        device = "cpu" if measured else device or learner._device
        watch = watch or learner.watched.get(self.name)
        request = kind(
            target=self._path,
            args=["list", [encoder.node(value) for value in args]],
            kwargs=["dict", [[name, encoder.node(value)] for name, value in kwargs.items()]],
            seed=encoder.node(drawn),
            device=device,
            banned=list(watch.names if watch else ()),
            allowed=list(watch.allowed if watch and not measured else ()),
            **options,
        )
        value, reply = learner._exchange(request, encoder, call)
        value = self._in_lessons_words(value)
        call.value, call.computed = without_objects(value), reply.computed is not False
        if watch and reply.hits:
            learner.hits.setdefault(self.name, learner._vouched(reply.hits[0], watch))
        _same_device(value, args, kwargs, device)
        return value, reply

    def _in_lessons_words(self, value: Any) -> Any:
        return value

    def _function(self) -> str:
        return f"{self._owner}.{self._path[1]}" if self._owner else self._path[0]

    def _described(self, args: Any, kwargs: Any) -> tuple[str, str]:
        """The call in words, and the same for everybody's eyes."""
        texts = []
        for text, short in ((self._text, _short), (self._outline, _outline)):
            parts = [short(value) for value in args]
            parts += [f"{name}={short(value)}" for name, value in kwargs.items()]
            texts.append(f"{text}({', '.join(parts)})")
        return texts[0], texts[1]


class Module(Target):
    """An object of the learner's: call it, or any of its methods (`layer.load_unfused(state)`)."""

    def __init__(self, learner: Learner, number: int, class_name: str):
        super().__init__(learner, [number, "__call__"], class_name, owner=class_name or "object")
        self._number, self.class_name = number, class_name
        self._names: dict[str, str] = {}  # the lesson's → the learner's, where they differ
        self._state: dict[str, torch.Tensor] = {}  # what was loaded by such a map

    @property
    def handle(self) -> Handle:
        return Handle(self._number, self.class_name)

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
        own = {name: lesson for lesson, name in self._names.items()}
        parameters = {own.get(name, name): held for name, held in value["parameters"].items()}
        return value | {"parameters": parameters, "frozen": [own.get(name, name) for name in value["frozen"]]}

    def _facts(self, values: bool = True, noted: bool = True) -> dict[str, Any]:
        """The description in the learner's own names. noted: as a call of the check."""
        value, _ = self._learner._exchange(protocol.Describe(self._number, values))
        # Part of the transcript: a diagnosis compares what was seen.
        seen = value.get("parameters") if isinstance(value, dict) else None
        if noted:
            self._learner._note(Call(self._text, self.class_name, "describe", seen, outline=self._outline))
        self._demand_module(value, values)
        facts: dict[str, Any] = value
        return facts

    def _demand_module(self, facts: Any, values: bool) -> None:
        if not isinstance(facts, dict):
            raise self._no_module()
        if not _is_description(facts):
            raise LearnerError("protocol", {"message": "the description of the object is none of ours"})
        for value in facts["parameters"].values():
            if not isinstance(value, torch.Tensor):
                raise Mismatch(f"a parameter of {self.class_name} is {kind(value)}; expected a tensor of numbers")
            if values and device_of(value) == "meta":
                raise Mismatch(f"a parameter of {self.class_name} is on the device meta: it has no values")

    def _no_module(self) -> Mismatch:
        return Mismatch(f"{self.class_name} is not a torch.nn.Module. Write class {self.class_name}(nn.Module)")

    def parameters(self, like: dict[str, Any] | None = None) -> dict[str, torch.Tensor]:
        """The parameters by name; by those of `like` (tensors or shapes), where nothing but the names differs."""
        if like is None:
            found: dict[str, torch.Tensor] = self.describe()["parameters"]
            return found
        held = self._facts()["parameters"]
        own = {name: lesson for lesson, name in self._fit(like, held).items()}
        return {own.get(name, name): value for name, value in held.items()}

    def renamed(self, like: dict[str, Any]) -> dict[str, str]:
        """The lesson's names and the learner's, where nothing else differs; {} else. No word of a worker's is told."""
        names = self._fit(like, self._facts(values=False, noted=False)["parameters"])
        words = self._learner._connection.words
        return {lesson: ".".join(map(words.told, name.split("."))) for lesson, name in names.items()}

    def other_maps(self) -> Iterator[int]:
        """Load the same under each other map of the names, one after the other; the first one again at last."""
        held = self._facts(values=False, noted=False)["parameters"] if self._state else {}
        count = len(renaming.maps(_shapes(self._state), _shapes(held))) if held else 0
        for choice in (*range(1, count), 0) if count > 1 else ():
            self._learner.map_of[self.class_name] = choice
            self._fit(self._state, held)
            self.load(self._state)
            if choice:
                yield choice

    def _fit(self, like: dict[str, Any], held: dict[str, Any]) -> dict[str, str]:
        """Find the map from the lesson's names to those that are held; {} where they are the same, or none fits."""
        self._names = {}
        if like.keys() != held.keys():
            found = renaming.maps(_shapes(like), _shapes(held))
            choice = self._learner.map_of.get(self.class_name, 0)
            self._names = found[min(choice, len(found) - 1)] if found else {}
        return self._names

    def _in_lessons_words(self, value: Any) -> Any:
        """Gradients by the lesson's names."""
        if not self._names or type(value) is not dict:
            return value
        own = {f"parameter {name}": f"parameter {lesson}" for lesson, name in self._names.items()}
        return {own.get(name, name): part for name, part in value.items()}

    def _assigned(self, parameters: dict[str, torch.Tensor]) -> Reply:
        encoder = Encoder()
        own = {self._names.get(name, name): value for name, value in parameters.items()}
        reply: Reply = self._learner._exchange(protocol.Assign(self._number, encoder.node(own)), encoder)[1]
        if reply.unknown is None:
            raise self._no_module()
        return reply

    def load(self, parameters: dict[str, torch.Tensor]) -> None:
        """Set the parameters by name; where nothing but their names differs from the lesson's, all the same.

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
            raise Mismatch(f"{self.class_name} has no parameter called {', '.join(unknown)}", details)
        for name, got, _ in reply.misshapen or ():
            if name in parameters:
                raise Mismatch(shape_words(tuple(got), tuple(parameters[name].shape), f"the parameter {name}"))
        if reply.surplus:
            count = f"{len(reply.surplus)} parameter{'s' * (len(reply.surplus) > 1)}"
            raise Mismatch(f"{self.class_name} has {count} too many", f"too many: {surplus}")

    def to(self, device: str | None = None, dtype: torch.dtype | None = None) -> "Module":
        name = str(dtype).removeprefix("torch.") if dtype else None
        self._learner._exchange(protocol.Convert(self._number, device, name))
        return self

    def train(self, mode: bool = True) -> "Module":
        self._learner._exchange(protocol.Convert(self._number, training=mode))
        return self

    def eval(self) -> "Module":
        return self.train(False)


def _shapes(parameters: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(getattr(value, "shape", value)) for name, value in parameters.items()}


def without_objects(value: Any) -> Any:
    """The value with a handle in each object's place: an object would keep all that its learner was asked."""
    if isinstance(value, Module):
        return value.handle
    if isinstance(value, dict):
        return {key: without_objects(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(without_objects, value))
    held = vars(value).values() if hasattr(value, "__dict__") and not isinstance(value, torch.Tensor) else ()
    return None if any(isinstance(part, (Learner, Target)) for part in held) else value


def _same_device(value: Any, args: Any, kwargs: Any, device: str) -> None:
    has_inputs = bool(tensors_in([args, kwargs]))
    for tensor in tensors_in(value):
        found = device_of(tensor)
        if has_inputs and found != device:
            where = f"the device {found}" if found in DEVICES else "another device"
            raise Mismatch(f"the result is on {where}, the inputs are on {device}")
        if found == "meta" != device:
            raise Mismatch("the result is on the device meta: it has a shape, but no values")


def device_of(tensor: torch.Tensor) -> str:
    """Where the worker says that a tensor of its own lies."""
    return "meta" if tensor.device.type == "meta" else str(tensor.facts["device"])  # type: ignore[attr-defined]


def tensors_in(value: Any) -> list[torch.Tensor]:
    """All tensors inside nested lists, tuples and dicts."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [found for item in value for found in tensors_in(item)] if isinstance(value, (list, tuple)) else []


def _demand_value(reply: Reply) -> None:
    """Raise LearnerError where a reply tells why there is no value."""
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


def _is_description(facts: dict[str, Any]) -> bool:
    """Whether a worker's description of an object has the form that Module.describe promises."""
    tables = [table for name in ("parameters", "modules") if type(table := facts.get(name)) is dict]
    if len(tables) < 2 or type(facts.get("frozen")) is not list:
        return False
    names = [*facts["frozen"], *(name for table in tables for name in table)]
    kinds = facts["modules"].values()
    known = all(type(name) is str for name in names) and all(map(_is_torchs, kinds))
    return known and type(facts.get("training")) is bool


def _is_torchs(kind_: Any) -> bool:
    """Whether this names a class of torch.nn."""
    return type(kind_) is str and kind_ in _torchs_classes()


@functools.cache
def _torchs_classes() -> frozenset[str]:
    found, waiting = set(), [torch.nn.Module]
    while waiting:
        part = waiting.pop()
        found |= {part.__name__} if part.__module__.startswith("torch.nn") else set()
        waiting += part.__subclasses__()
    return frozenset(found)


def _short(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        dtype = "" if value.dtype == torch.float32 else " " + str(value.dtype).removeprefix("torch.")
        return f"tensor {tuple(value.shape)}{dtype}{'' if value.is_contiguous() else ' non-contiguous'}"
    if isinstance(value, (list, tuple, dict)) and len(repr(value)) > 60:
        return kind(value)
    if isinstance(value, Module):
        return value.class_name
    return repr(value)[:60]


def _outline(value: Any) -> str:
    """An argument without its values: they may be hidden inputs. Sizes and switches are told."""
    is_shown = isinstance(value, (torch.Tensor, Module)) or type(value) in (int, bool, type(None))
    return _short(value) if is_shown else kind(value)
