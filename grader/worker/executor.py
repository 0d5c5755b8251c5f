"""Runs a learner's code: loads one source, calls what it defines, answers with plain data.

The same executor runs the solution on the trusted side, so that both answer alike.
"""

import builtins
import contextlib
import difflib
import inspect
import io
import linecache
import sys
import types

import torch

from .bans import Ban
from .placement import MOVED, PretendDevice, each, move_module, place, report
from .trees import Decoder, Encoder, Handle

MAX_OUTPUT = 10_000  # characters of the learner's prints that are kept
MAX_MESSAGE = 2_000  # characters of an exception's text
MAX_FRAMES = 6
SIGNATURES: dict[tuple, tuple] = {}  # of a function's id: the function (kept alive), its signature, its room
MAX_SIGNATURES = 2_000  # a grading process meets every known mistake, again and again
PYTHONS_OWN = {id(kind) for kind in vars(builtins).values() if isinstance(kind, type)}
NOTHING = contextlib.nullcontext()
# Why no gradient can be told; the grader repeats these words and no others.
NO_LEAVES = "nothing among the arguments and parameters can have a gradient"
NO_FLOATS = "the result holds no floating-point tensor"
NO_PATH = "the result has no grad_fn: the path back to the inputs was cut"
NO_GRADIENT = (NO_LEAVES, NO_FLOATS, NO_PATH)


class Executor:
    """One loaded submission and the objects made from it. `handle` answers one request."""

    def __init__(self):
        self.filename, self.lines, self.module = "", [], types.ModuleType("submission")
        self.objects: dict[int, object] = {}
        self.output = Output()

    def handle(self, message: dict, tensors: list) -> tuple[dict, list]:
        """The reply to one request, always: an exception of the learner's becomes plain data."""
        encoder = Encoder(self.keep)
        _neutral()
        printed = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = self.output
        try:
            operation = getattr(self, "on_" + message["op"])
            reply = operation(message, Decoder(tensors, self.find, strides=True), encoder)
        except BaseException as error:  # SystemExit and KeyboardInterrupt of the learner's too
            encoder, reply = Encoder(), {"error": self.explain(error)}
        finally:
            sys.stdout, sys.stderr = printed
        reply["output"] = self.output.take()
        return reply, encoder.tensors

    # One method for each request.

    def on_load(self, message: dict, decoder: Decoder, encoder: Encoder) -> dict:
        """Run the source as a module named for the exercise. Replies the names it defines."""
        self.filename, source = message["filename"], message["source"]
        self.lines = source.splitlines()
        linecache.cache[self.filename] = (len(source), None, source.splitlines(True), self.filename)
        self.module = types.ModuleType(message["name"])
        self.module.__file__ = self.filename
        sys.modules[message["name"]] = self.module  # dataclasses and pickling look there
        exec(compile(source, self.filename, "exec", dont_inherit=True), self.module.__dict__)
        return {"names": self.names()}

    def on_call(self, message: dict, decoder: Decoder, encoder: Encoder) -> dict:
        """Call a function, a class or an object's method.

        want "output": the result; "inputs": the arguments as they are afterwards; "gradients":
        of the sum of result × a fixed random tensor, for every argument and parameter.
        """
        target, named = self.target(message["target"])
        if target is None:
            return {"missing": named, "names": self.names()}
        if message["want"] == "gradients":
            leaves: dict[str, torch.Tensor] = {}
        args = decoder.value(message["args"])
        kwargs = decoder.value(message["kwargs"])
        args, kwargs = _placed(args, message["device"]), _placed(kwargs, message["device"])
        wrong = _mismatch(target, args, kwargs)
        if wrong:
            return {"signature": wrong}
        if message["want"] == "gradients":
            named_args = [(f"argument {i + 1}", value) for i, value in enumerate(args)]
            named_args += [(f"argument {name}", value) for name, value in kwargs.items()]
            for name, value in named_args:
                _gather(name, value, leaves)
            owner = getattr(target, "__self__", target)
            if isinstance(owner, torch.nn.Module):
                for name, parameter in owner.named_parameters():
                    if parameter.requires_grad:
                        leaves[f"parameter {name}"] = parameter
        _seed(decoder.value(message["seed"]), message["device"])
        pretend = PretendDevice() if message["device"] == "meta" else NOTHING
        ban = Ban(message["banned"], self.filename)
        with pretend, ban if ban.names else NOTHING:
            result = target(*args, **kwargs)
            if message["want"] == "output" and message["device"] != "meta":
                value = encoder.node(result)  # watched too: what it calls may have been replaced
        if message["want"] == "inputs":
            value = encoder.node([args, kwargs])
        elif message["want"] == "gradients":
            gradients, problem = _gradients(result, leaves, message["cotangent_seed"])
            if problem:
                return {"gradient": problem}
            value = encoder.node(gradients)
        elif message["device"] == "meta":
            value = encoder.node(report(result))
        return {"banned": ban.hits, "value": value}

    def on_describe(self, message: dict, decoder: Decoder, encoder: Encoder) -> dict:
        """What a module holds: its parameters and parts, each with its name.

        The parameters' values come only where they are asked for: there may be a million.
        """
        module = self.objects[message["object"]]
        if not isinstance(module, torch.nn.Module):
            return {"value": None}
        parameters = dict(torch.nn.Module.named_parameters(module))
        frozen = [name for name, value in parameters.items() if not value.requires_grad]
        parts = torch.nn.Module.named_modules(module)
        facts = {
            "parameters": parameters if message["values"] else _shapes(parameters),
            "frozen": frozen,
            "modules": {name: _kind(part) for name, part in parts},
            "training": bool(module.training),
        }
        return {"value": encoder.node(facts)}

    def on_assign(self, message: dict, decoder: Decoder, encoder: Encoder) -> dict:
        """Set parameters by name, in place; those that the module lacks are told, not set."""
        module = self.objects[message["object"]]
        if not isinstance(module, torch.nn.Module):
            return {"value": None}
        parameters = dict(torch.nn.Module.named_parameters(module))
        values, unknown, misshapen = decoder.value(message["parameters"]), [], []
        with torch.no_grad():
            for name, value in values.items():
                if name not in parameters:
                    unknown.append(name)
                elif parameters[name].shape != value.shape:
                    misshapen.append([name, list(parameters[name].shape), list(value.shape)])
                else:
                    parameters[name].copy_(value)
        surplus = [name for name in parameters if name not in values]
        return {"unknown": unknown, "misshapen": misshapen, "surplus": surplus}

    def on_convert(self, message: dict, decoder: Decoder, encoder: Encoder) -> dict:
        """Move a module to a device or a dtype, or set its mode (train or eval)."""
        module = self.objects[message["object"]]
        if message.get("device") == "meta":
            move_module(module)
        elif message.get("device"):
            module.to(message["device"])
        if message.get("dtype"):
            module.to(getattr(torch, message["dtype"]))
        if message.get("training") is not None:
            module.train(message["training"])
        return {"value": None}

    def on_forget(self, message: dict, decoder: Decoder, encoder: Encoder) -> dict:
        """Drop the objects of the check before."""
        self.objects.clear()
        MOVED.clear()
        return {"value": None}

    # What they share.

    def target(self, path: list):
        """The thing to call and its name: ["attention_scores"] or [3, "forward"]."""
        if isinstance(path[0], int):
            owner = self.objects[path[0]]
            named = type(owner).__name__ + ("" if path[1] == "__call__" else f".{path[1]}")
            return (owner if path[1] == "__call__" else getattr(owner, path[1], None)), named
        value = self.module.__dict__.get(path[0])
        return (value if callable(value) else None), path[0]

    def keep(self, value) -> Handle | None:
        """A handle for an object made by a class of the learner's, or for any nn.Module."""
        if isinstance(value, torch.nn.Module) or type(value).__module__ == self.module.__name__:
            for number, known in self.objects.items():
                if known is value:
                    return Handle(number, type(value).__name__)
            number = len(self.objects)
            self.objects[number] = value
            return Handle(number, type(value).__name__)
        return None

    def find(self, number: int, class_name: str):
        return self.objects[number]

    def names(self) -> list[str]:
        """The public functions and classes that the learner's file defines itself."""
        return sorted(
            name
            for name, value in self.module.__dict__.items()
            if callable(value)
            and not name.startswith("_")
            and getattr(value, "__module__", None) == self.module.__name__
        )[:100]

    def explain(self, error: BaseException) -> dict:
        """An exception as plain data: its type, text, and the learner's own lines alone."""
        frames, trace = [], error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self.filename:
                line = trace.tb_lineno
                text = self.lines[line - 1].strip() if 0 < line <= len(self.lines) else ""
                frames.append([line, trace.tb_frame.f_code.co_name, text[:200]])
            trace = trace.tb_next
        if isinstance(error, SyntaxError) and error.filename == self.filename:
            frames.append([error.lineno or 0, "", (error.text or "").rstrip()[:200]])
        if len(frames) > MAX_FRAMES:
            frames = frames[: MAX_FRAMES // 2] + frames[-MAX_FRAMES // 2 :]
        bases = [base for base in type(error).__mro__ if base is not object]
        return {
            "type": type(error).__name__[:100],
            "bases": [_qualified(base)[:100] for base in bases[:10]],
            "message": _text(error),
            "missing_module": str(error.name)[:100] if isinstance(error, ImportError) and error.name else None,
            "frames": frames,
        }


class Output(io.TextIOBase):
    """Keeps the first characters of what is printed, and counts the rest away."""

    def __init__(self):
        self.parts, self.room, self.lost = [], MAX_OUTPUT, 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        kept = text[: self.room]
        if kept:
            self.parts.append(kept)
            self.room -= len(kept)
        self.lost += len(text) - len(kept)
        return len(text)

    def take(self) -> str:
        text = "".join(self.parts)
        if self.lost:
            text += f"\n… ({self.lost:,} more characters were printed)\n"
        self.parts, self.lost = [], 0
        return text.encode(errors="replace").decode()


def nearest(name: str, names: list[str]) -> str | None:
    """The name that was probably meant, where one is close enough."""
    found = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return found[0] if found else None


def _neutral() -> None:
    """Undo what a learner's code may have set for the whole process."""
    if torch.get_default_dtype() is not torch.float32:
        torch.set_default_dtype(torch.float32)
    if not torch.is_grad_enabled():
        torch.set_grad_enabled(True)
    if torch._C._len_torch_function_stack():  # a default device is a mode on it
        torch.set_default_device(None)


def _seed(seed, device: str) -> None:
    if isinstance(seed, torch.Tensor):
        torch.set_rng_state(seed)
    elif device in ("cpu", "meta"):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed takes 300 times as long
    else:
        torch.manual_seed(seed)


def _placed(value, device: str):
    """Arguments on the device that the call asks for, laid out in memory as they were."""
    if device == "cpu":
        return value
    if device == "meta":
        return place(value)
    return each(lambda t: torch.empty_strided(t.shape, t.stride(), dtype=t.dtype, device=device).copy_(t), value)


def _mismatch(target, args: list, kwargs: dict) -> str | None:
    """The signature, where the call does not fit it."""
    try:
        function = target.forward if isinstance(target, torch.nn.Module) else target
        signature, room = _signature(function)
    except (TypeError, ValueError):
        return None
    if not kwargs and len(args) in room:
        return None
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        return f"{getattr(function, '__name__', 'call')}{signature}: {error}"[:300]
    return None


def _signature(function) -> tuple[inspect.Signature, range]:
    """The signature, and how many arguments may stand without a name where no other is given.

    inspect takes longer than most calls: a function or class is looked at once.
    """
    plain = getattr(function, "__func__", function)
    key = (id(plain), plain is function)
    known = SIGNATURES.get(key)
    if known is None or known[0] is not plain:
        signature = inspect.signature(function)
        known = (plain, signature, _room(signature))
        if type(plain) in (types.FunctionType, type):
            if len(SIGNATURES) >= MAX_SIGNATURES:
                SIGNATURES.clear()
            SIGNATURES[key] = known
    return known[1:]


def _room(signature: inspect.Signature) -> range:
    kinds = [(part.kind, part.default is part.empty) for part in signature.parameters.values()]
    if (inspect.Parameter.KEYWORD_ONLY, True) in kinds:
        return range(0)
    named = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    least = sum(kind in named and needed for kind, needed in kinds)
    most = sys.maxsize if inspect.Parameter.VAR_POSITIONAL in dict(kinds) else sum(kind in named for kind, _ in kinds)
    return range(least, most + 1)


def _gather(name: str, value, leaves: dict) -> None:
    """Make every float tensor inside an argument a leaf whose gradient is asked for."""
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        leaves[name] = value.requires_grad_()
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _gather(f"{name}[{index}]", item, leaves)


def _gradients(result, leaves: dict, seed: int):
    outputs: dict[str, torch.Tensor] = {}
    _collect("result", result, outputs)
    if not leaves:
        return None, NO_LEAVES
    if not outputs:
        return None, NO_FLOATS
    if not any(output.requires_grad for output in outputs.values()):
        return None, NO_PATH
    generator = torch.Generator().manual_seed(seed)
    total = 0.0
    for output in outputs.values():
        cotangent = torch.randn(output.shape, generator=generator).to(output.device, output.dtype)
        if output.requires_grad:
            total = total + (output * cotangent).sum()
    # A scalar needs no grad_outputs, which would import sympy: a quarter of a second in each fork.
    grads = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
    filled = {
        name: torch.zeros_like(leaf) if grad is None else grad
        for (name, leaf), grad in zip(leaves.items(), grads, strict=True)
    }
    return filled, None


def _collect(name: str, value, outputs: dict) -> None:
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        outputs[name] = value
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _collect(f"{name}[{index}]", item, outputs)


def _qualified(kind: type) -> str:
    """A class's name; with its module where it is none of Python's own, so that no namesake is taken for one."""
    return kind.__name__ if id(kind) in PYTHONS_OWN else f"{kind.__module__}.{kind.__qualname__}"


def _shapes(named: dict) -> dict[str, torch.Tensor]:
    """Tensors without values: each with its name, shape and dtype."""
    return {
        name: torch.empty(value.shape, dtype=value.dtype, device="meta")
        for name, value in named.items()
        if isinstance(value, torch.Tensor)
    }


def _kind(part: torch.nn.Module) -> str:
    """The class of torch's own that a part is or is built on: "Linear", "ModuleList", "Module"."""
    for base in type(part).__mro__:
        if base.__module__.startswith("torch.nn"):
            return base.__name__
    return "Module"


def _text(error: BaseException) -> str:
    try:
        text = error.msg if type(error) in (SyntaxError, IndentationError, TabError) else str(error)
        return text[:MAX_MESSAGE].encode(errors="replace").decode()
    except BaseException:  # a learner's __str__ may do anything
        return "(the exception's text could not be read)"
