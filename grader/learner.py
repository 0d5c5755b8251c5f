"""The proxy: what a check calls as if it were the learner's module.

    weights = learner.attention_weights(inputs)              # a call in the worker
    grads = learner.attention_weights.gradients(inputs)      # true gradients, by argument
    layer = learner.SelfAttention_v1(3, 2, seed=123)         # an object that stays there
    context = layer(inputs)

The same proxy stands before the solution (`reference`), run in the grader's own process.
"""

import contextlib
import functools
import zlib

import torch

from grader.compare import Mismatch
from grader.connection import Call, LearnerError, Local, Remote
from grader.words import kind, shape_words
from grader.worker import wire
from grader.worker.executor import NO_GRADIENT
from grader.worker.trees import Decoder, Encoder, Handle

DEVICES = ("cpu", "cuda", "mps", "meta")


class Learner:
    """What a check sees: every attribute is a function or class of the learner's file."""

    def __init__(self, connection: Remote | Local, device: str = "cpu", seed: int = 0):
        self._connection, self._device, self._seed = connection, device, seed
        self.calls: list[Call] = []
        # Functions whose every call is watched, and the first forbidden operation seen in each: code that
        # remembers an answer would pass a single watched call.
        self.watched: dict[str, tuple[str, ...]] = {}
        self.hits: dict[str, list] = {}

    @property
    def source(self) -> str:
        return self._connection.source

    def __getattr__(self, name: str) -> "Target":
        if name.startswith("_"):
            raise AttributeError(name)
        return Target(self, [name], name)

    def _begin(self, seed: int) -> None:
        """A new check: forget the objects and calls of the one before."""
        self._seed, self.calls = seed, []
        if self._connection.answers:
            with contextlib.suppress(LearnerError):  # a worker that ends or hangs now is replaced by the next call
                self._ask({"op": "forget"}, Encoder(), "")

    def _note(self, call: Call) -> None:
        self.calls.append(call)

    def _ask(self, message: dict, encoder: Encoder, function: str, call: Call | None = None):
        try:
            reply, raw = self._connection.ask(message, encoder.tensors, function)
            return self._value(reply, raw)
        except LearnerError as error:
            error.call = call
            if call:
                call.problem = error
            raise
        except wire.ProtocolError as error:
            raise LearnerError("protocol", {"message": str(error)}, call) from None

    def _value(self, reply: dict, raw: list):
        for key, kind_ in (("error", "exception"), ("missing", "missing"), ("signature", "signature")):
            if reply.get(key):
                facts = reply[key] if key == "error" else reply
                raise LearnerError(kind_, facts if isinstance(facts, dict) else {})
        if reply.get("gradient"):
            if reply["gradient"] not in NO_GRADIENT:
                raise wire.ProtocolError("the reason for a missing gradient is none of ours")
            raise LearnerError("gradient", {"message": reply["gradient"]})
        return Decoder(raw, self._object).value(reply.get("value")), reply

    def _object(self, number: int, class_name: str) -> "Module":
        return Module(self, number, self._connection.words.vouched(class_name, torch.nn))


class Target:
    """A callable on the learner's side. Calling it asks the worker; arguments travel as data.

    seed: an int, or a state of torch's generator (`torch.get_rng_state()`), set before the call.
    ban: operations of torch's dispatcher that this call must not use; hits stand in the Call.
    owner: the class whose method this is; one that hangs on one object is not called on the next.
    """

    def __init__(self, learner: Learner, path: list, text: str, outline: str = "", owner: str = ""):
        self._learner, self._path, self._text, self._outline = learner, path, text, outline or text
        self._owner = owner

    @property
    def name(self) -> str:
        return self._path[0] if isinstance(self._path[0], str) else self._text

    def __call__(self, *args, seed=None, ban=(), state=None, **kwargs):
        result = self._ask("output", args, kwargs, seed, ban)
        if isinstance(result, Module):
            result._text, result._outline = self._described(args, kwargs)
            if state is not None:
                result.load(state)
            if self._learner._device != "cpu":
                result.to(device=self._learner._device)
        return result

    def gradients(self, *args, seed=None, **kwargs) -> dict[str, torch.Tensor]:
        """Gradients of sum(result × fixed random numbers), for each argument and parameter."""
        return self._ask("gradients", args, kwargs, seed, ())

    def inputs_after(self, *args, seed=None, **kwargs) -> list:
        """The arguments [args, kwargs] as they are after the call."""
        after = self._ask("inputs", args, kwargs, seed, ())
        alike = type(after) is list and [type(part) for part in after] == [list, dict]
        if not alike or len(after[0]) != len(args) or after[1].keys() != kwargs.keys():
            raise LearnerError("protocol", {"message": "the arguments did not come back"}, self._learner.calls[-1])
        return after

    def on_meta(self, *args, **kwargs):
        """The result for tensors without values on the device "meta": shapes and devices only."""
        return self._ask("output", args, kwargs, None, (), device="meta")

    def _ask(self, want: str, args, kwargs, seed, ban, device: str | None = None):
        learner = self._learner
        encoder = Encoder(keep=lambda value: value.handle if isinstance(value, Module) else None, strides=True)
        number = len(learner.calls)
        drawn = zlib.crc32(f"{learner._seed} {number}".encode()) if seed is None else seed
        text, outline = self._described(args, kwargs)
        call = Call(text, self._function(), want, outline=outline)
        learner.calls.append(call)
        device = device or learner._device
        message = {
            "op": "call",
            "target": self._path,
            "args": [encoder.node(value) for value in args],
            "kwargs": {name: encoder.node(value) for name, value in kwargs.items()},
            "seed": encoder.node(drawn),
            "cotangent_seed": zlib.crc32(f"{learner._seed}".encode()),
            "device": device,
            "want": want,
            "banned": list(ban := tuple(ban) or learner.watched.get(self.name, ())),
        }
        message["args"], message["kwargs"] = ["list", message["args"]], _pairs(message["kwargs"])
        value, reply = learner._ask(message, encoder, call.function, call)
        call.value = value
        call.banned = [hit for hit in reply.get("banned") or [] if hit[0] in ban]
        if call.banned:
            learner.hits.setdefault(self.name, call.banned[0])
        _same_device(value, args, kwargs, device)
        return value

    def _function(self) -> str:
        return f"{self._owner}.{self._path[1]}" if self._owner else self._path[0]

    def _described(self, args, kwargs) -> tuple[str, str]:
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

    @property
    def handle(self):
        return Handle(self._number, self.class_name)

    def __getattr__(self, name: str) -> Target:
        if name.startswith("_"):
            raise AttributeError(name)
        text, outline = f"{self._text}.{name}", f"{self._outline}.{name}"
        return Target(self._learner, [self._number, name], text, outline, self._owner)

    def describe(self, values: bool = True) -> dict:
        """parameters (shapes alone with `values=False`), frozen, modules (name → torch.nn class), training.

        Raises Mismatch where the object is no torch.nn.Module.
        """
        message = {"op": "describe", "object": self._number, "values": values}
        value, _ = self._learner._ask(message, Encoder(), "")
        # Part of the transcript: a diagnosis compares what was seen.
        seen = value.get("parameters") if isinstance(value, dict) else None
        self._learner._note(Call(self._text, self.class_name, "describe", seen, outline=self._outline))
        self._demand_module(value, values)
        return value

    def _demand_module(self, facts, values: bool) -> None:
        if not isinstance(facts, dict):
            raise self._no_module()
        if not _is_description(facts):
            raise LearnerError("protocol", {"message": "the description of the object is none of ours"})
        for value in facts["parameters"].values():
            if not isinstance(value, torch.Tensor):
                raise Mismatch(f"a parameter of {self.class_name} is {kind(value)}; expected a tensor of numbers")
            if values and value.device.type == "meta":
                raise Mismatch(f"a parameter of {self.class_name} is on the device meta: it has no values")

    def _no_module(self) -> Mismatch:
        return Mismatch(f"{self.class_name} is not a torch.nn.Module. Write class {self.class_name}(nn.Module)")

    def parameters(self) -> dict[str, torch.Tensor]:
        return self.describe()["parameters"]

    def load(self, parameters: dict[str, torch.Tensor]) -> None:
        """Set the parameters by name. Raises Mismatch where names or shapes do not fit."""
        encoder = Encoder()
        node = encoder.node(parameters)
        message = {"op": "assign", "object": self._number, "parameters": node}
        _, reply = self._learner._ask(message, encoder, "")
        if "unknown" not in reply:
            raise self._no_module()
        unknown = [name for name in parameters if name in reply.get("unknown", ())]
        surplus = ", ".join(reply.get("surplus", ()))[:300]
        if unknown:
            details = f"it has:  {surplus or 'none that fit'}"
            raise Mismatch(f"{self.class_name} has no parameter called {', '.join(unknown)}", details)
        for name, got, _ in reply.get("misshapen", ()):
            if name in parameters:
                raise Mismatch(shape_words(tuple(got), tuple(parameters[name].shape), f"the parameter {name}"))
        if reply.get("surplus"):
            count = f"{len(reply['surplus'])} parameter{'s' * (len(reply['surplus']) > 1)}"
            raise Mismatch(f"{self.class_name} has {count} too many", f"too many: {surplus}")

    def to(self, device: str | None = None, dtype: torch.dtype | None = None) -> "Module":
        name = str(dtype).removeprefix("torch.") if dtype else None
        self._learner._ask({"op": "convert", "object": self._number, "device": device, "dtype": name}, Encoder(), "")
        return self

    def train(self, mode: bool = True) -> "Module":
        self._learner._ask({"op": "convert", "object": self._number, "training": mode}, Encoder(), "")
        return self

    def eval(self) -> "Module":
        return self.train(False)


def _same_device(value, args, kwargs, device: str) -> None:
    has_inputs = bool(tensors_in([args, kwargs]))
    for tensor in tensors_in(value):
        found = "meta" if tensor.device.type == "meta" else tensor.facts["device"]
        if has_inputs and found != device:
            where = f"the device {found}" if found in DEVICES else "another device"
            raise Mismatch(f"the result is on {where}, the inputs are on {device}")
        if found == "meta" != device:
            raise Mismatch("the result is on the device meta: it has a shape, but no values")


def tensors_in(value) -> list[torch.Tensor]:
    """All tensors inside nested lists, tuples and dicts."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [found for item in value for found in tensors_in(item)] if isinstance(value, (list, tuple)) else []


def _pairs(nodes: dict):
    return ["dict", [[name, node] for name, node in nodes.items()]]


def _is_description(facts: dict) -> bool:
    """Whether a worker's description of an object has the form that Module.describe promises."""
    tables = [facts.get(name) for name in ("parameters", "modules")]
    if not all(type(table) is dict for table in tables) or type(facts.get("frozen")) is not list:
        return False
    names = [*facts["frozen"], *(name for table in tables for name in table)]
    kinds = facts["modules"].values()
    known = all(type(name) is str for name in names) and all(map(_is_torchs, kinds))
    return known and type(facts.get("training")) is bool


def _is_torchs(kind_) -> bool:
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


def _short(value) -> str:
    if isinstance(value, torch.Tensor):
        dtype = "" if value.dtype == torch.float32 else " " + str(value.dtype).removeprefix("torch.")
        return f"tensor {tuple(value.shape)}{dtype}{'' if value.is_contiguous() else ' non-contiguous'}"
    if isinstance(value, (list, tuple, dict)) and len(repr(value)) > 60:
        return kind(value)
    if isinstance(value, Module):
        return value.class_name
    return repr(value)[:60]


def _outline(value) -> str:
    """An argument without its values: they may be hidden inputs. Sizes and switches are told."""
    is_shown = isinstance(value, (torch.Tensor, Module)) or type(value) in (int, bool, type(None))
    return _short(value) if is_shown else kind(value)
