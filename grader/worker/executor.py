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

from . import protocol
from .codec import Decoder, Encoder, Handle
from .fake_device import FakeDevice, each, move_module, place
from .loading import Loading, TookTooLong
from .modules import COPY, MODULE, REQUIRES_GRAD, described, parameters
from .op_record import OpRecord
from .op_watch import OpWatch
from .protocol import Reply
from .stand_ins import display, get_ipython

MAX_OUTPUT = 10_000  # characters of the learner's prints that are kept
MAX_MESSAGE = 2_000  # characters of an exception's text
MAX_FRAMES = 6
MAX_FAILED = 100  # statements whose failure is told
MAX_SIGNATURES = 200  # that are remembered of one submission
PYTHONS_OWN = {id(kind) for kind in vars(builtins).values() if isinstance(kind, type)}
NOTHING = contextlib.nullcontext()
# Why no gradient can be told; the grader repeats these words and no others.
NO_LEAVES = "nothing among the arguments and parameters can have a gradient"
NO_FLOATS = "the result holds no floating-point tensor"
NO_PATH = "the result has no grad_fn: the path back to the inputs was cut"
NO_GRADIENT = (NO_LEAVES, NO_FLOATS, NO_PATH)


class Executor:
    """One loaded submission and the objects made from it. `handle` answers one request."""

    def __init__(self) -> None:
        self.filename, self.lines, self.module = "", [], types.ModuleType("submission")
        self.loading: Loading | None = None
        self.objects: dict[int, object] = {}
        self.signatures: dict[
            tuple, tuple
        ] = {}  # of a function's id: the function (kept alive), its signature, its room
        self.output = Output()

    def handle(self, request: protocol.Request, tensors: list) -> tuple[protocol.Reply, list]:
        """The reply to one request, always: an exception of the learner's becomes plain data."""
        encoder = Encoder(self.keep)
        _neutral()
        printed = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = self.output
        try:
            reply = HANDLERS[type(request)](self, request, Decoder(tensors, self.find, strides=True), encoder)
        except BaseException as error:  # SystemExit and KeyboardInterrupt of the learner's too
            encoder, reply = Encoder(), Reply(error=self.explain(error))
        finally:
            sys.stdout, sys.stderr = printed
        reply.output = self.output.take()
        return reply, encoder.tensors

    # One method for each kind of request.

    def load(self, request: protocol.Load, decoder: Decoder, encoder: Encoder) -> Reply:
        """Run the source as a module named for the exercise, or get ready to, where it goes step by step."""
        self.filename, source = request.filename, request.source
        self.lines = source.splitlines()
        linecache.cache[self.filename] = (len(source), None, source.splitlines(True), self.filename)
        self.module = types.ModuleType(request.name)
        self.module.__file__ = self.filename
        sys.modules[request.name] = self.module  # dataclasses and pickling look there
        self.module.__dict__.update(display=display, get_ipython=get_ipython)
        self.loading = Loading(source, self.filename, request.cells, request.skip, request.seconds)
        return Reply() if request.stepwise else self.loaded(None)

    def step(self, request: protocol.Step, decoder: Decoder, encoder: Encoder) -> Reply:
        """Run the next statement of the source."""
        return self.loaded(1)

    def call(self, request: protocol.Call, decoder: Decoder, encoder: Encoder) -> Reply:
        return self.watched(request, decoder, lambda result, args, kwargs: encoder.node(result))

    def call_with_inputs(self, request: protocol.CallWithInputs, decoder: Decoder, encoder: Encoder) -> Reply:
        return self.watched(request, decoder, lambda result, args, kwargs: encoder.node([result, args, kwargs]))

    def call_for_gradients(self, request: protocol.CallForGradients, decoder: Decoder, encoder: Encoder) -> Reply:
        target, args, kwargs = self.prepared(request, decoder)
        if target is None:
            return self.missing(request)
        leaves = _leaves(target, args, kwargs)
        _seed(decoder.value(request.seed), request.device)
        wrong = self.misfit(target, args, kwargs)
        if wrong:
            return Reply(signature=wrong)
        names = self.watch(request) if request.banned and not request.allowed else None
        with names.calls if names else NOTHING:
            gradients, problem = _gradients(target(*args, **kwargs), leaves, request.cotangent_seed)
        if problem:
            return Reply(gradient=problem)
        return Reply(value=encoder.node(gradients), hits=names.hits if names else None)

    def describe(self, request: protocol.Describe, decoder: Decoder, encoder: Encoder) -> Reply:
        """What a module holds. The parameters' values come only where they are asked for: there may be a million."""
        module = self.objects[request.object]
        if not isinstance(module, MODULE):
            return Reply()
        return Reply(value=encoder.node(described(module, request.values)))

    def assign(self, request: protocol.Assign, decoder: Decoder, encoder: Encoder) -> Reply:
        """Set parameters by name, in place; those that the module lacks are told, not set."""
        module = self.objects[request.object]
        if not isinstance(module, MODULE):
            return Reply()
        held = parameters(module)
        values, unknown, misshapen = decoder.value(request.parameters), [], []
        with torch.no_grad():
            for name, value in values.items():
                if name not in held:
                    unknown.append(name)
                elif held[name].shape != value.shape:
                    misshapen.append([name, list(held[name].shape), list(value.shape)])
                else:
                    COPY(held[name], value)
        surplus = [name for name in held if name not in values]
        return Reply(unknown=unknown, misshapen=misshapen, surplus=surplus)

    def convert(self, request: protocol.Convert, decoder: Decoder, encoder: Encoder) -> Reply:
        """Move a module to a device or a dtype, or set its mode (train or eval)."""
        module = self.objects[request.object]
        if not isinstance(module, MODULE):
            raise TypeError(f"{type(module).__name__} is not a torch.nn.Module")
        if request.device == "meta":
            move_module(module)
        elif request.device:
            module.to(request.device)  # as a user would: one that does not move is to be seen
        if request.dtype:
            module.to(getattr(torch, request.dtype))
        if request.training is not None:
            module.train(request.training)
        return Reply()

    def forget(self, request: protocol.Forget, decoder: Decoder, encoder: Encoder) -> Reply:
        """Drop the objects of the check before."""
        self.objects.clear()
        return Reply()

    # What they share.

    def loaded(self, most: int | None) -> Reply:
        """The reply after the next `most` statements, or all: what failed in them, and at the end the names."""
        more = self.loading.run(self.module, most)
        failed, self.loading.failed = self.loading.failed[:MAX_FAILED], []
        left_out = [[line, *self.failure(error)] for line, error in failed]
        return Reply(left_out=left_out or None, names=None if more else self.names())

    def failure(self, error: BaseException) -> list:
        """What a statement failed with: the seconds after which it was stopped (0.0: it was not), the exception."""
        return [error.seconds if type(error) is TookTooLong else 0.0, self.explain(error)]

    def watched(self, request: protocol.Call, decoder: Decoder, told) -> Reply:
        """Make the call, and encode what is told of the result and of the arguments afterwards.

        A call that is watched is watched from where its arguments are known to where its result is plain data: the
        signature and the result may be the learner's code too. A record is of the call itself.
        """
        target, args, kwargs = self.prepared(request, decoder)
        if target is None:
            return self.missing(request)
        _seed(decoder.value(request.seed), request.device)
        watch = self.watch(request) if request.banned or request.allowed else None
        fake = FakeDevice() if request.device == "meta" else NOTHING
        record = OpRecord() if type(request) is protocol.CallWithOperations else NOTHING
        with NOTHING if watch is None else watch if request.allowed else watch.calls:
            wrong = self.misfit(target, args, kwargs)
            if wrong:
                return Reply(signature=wrong)
            with fake, record:
                result = target(*args, **kwargs)
            value = told(result, args, kwargs)
        reply = Reply(value=value)
        if watch is not None:
            reply.hits, reply.computed = watch.hits, watch.computed if request.allowed else None
        if record is not NOTHING:
            reply.operations, reply.unrecorded = record.rows, record.problem
        return reply

    def watch(self, request: protocol.Call) -> OpWatch:
        """What looks for ready-made functions during a call."""
        return OpWatch(request.banned, request.allowed, self.filename)

    def prepared(self, request: protocol.Call, decoder: Decoder) -> tuple:
        """The thing to call (None where it is missing) and its arguments, on the device that is asked for."""
        args, kwargs = decoder.value(request.args), decoder.value(request.kwargs)
        return self.target(request.target), _placed(args, request.device), _placed(kwargs, request.device)

    def missing(self, request: protocol.Call) -> Reply:
        """The reply where the thing to call is not there."""
        owner, name = request.target if len(request.target) == 2 else (None, request.target[0])
        if owner is not None:
            name = type(self.objects[owner]).__name__ + ("" if name == "__call__" else f".{name}")
        return Reply(missing=name, names=self.names())

    def target(self, path: list):
        """The thing to call: ["attention_scores"] or [3, "forward"]; None where it is missing."""
        if isinstance(path[0], int):
            owner = self.objects[path[0]]
            return owner if path[1] == "__call__" else getattr(owner, path[1], None)
        value = self.module.__dict__.get(path[0])
        return value if callable(value) else None

    def misfit(self, target, args: list, kwargs: dict) -> str | None:
        """The signature, where the call does not fit it."""
        try:
            function = target.forward if isinstance(target, MODULE) else target
            signature, room = self.signature(function)
        except (TypeError, ValueError):
            return None
        if not kwargs and len(args) in room:
            return None
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            return f"{getattr(function, '__name__', 'call')}{signature}: {error}"[:300]
        return None

    def signature(self, function) -> tuple[inspect.Signature, range]:
        """The signature, and how many arguments may stand without a name where no other is given.

        inspect takes longer than most calls: a function or class is looked at once.
        """
        plain = getattr(function, "__func__", function)
        key = (id(plain), plain is function)
        known = self.signatures.get(key)
        if known is None or known[0] is not plain:
            signature = inspect.signature(function)
            known = (plain, signature, _room(signature))
            if type(plain) in (types.FunctionType, type) and len(self.signatures) < MAX_SIGNATURES:
                self.signatures[key] = known
        return known[1:]

    def keep(self, value) -> Handle | None:
        """A handle for an object made by a class of the learner's, or for any nn.Module."""
        if isinstance(value, MODULE) or type(value).__module__ == self.module.__name__:
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


HANDLERS = {
    protocol.Load: Executor.load, protocol.Step: Executor.step, protocol.Call: Executor.call,
    protocol.CallWithOperations: Executor.call, protocol.CallWithInputs: Executor.call_with_inputs,
    protocol.CallForGradients: Executor.call_for_gradients, protocol.Describe: Executor.describe,
    protocol.Assign: Executor.assign, protocol.Convert: Executor.convert, protocol.Forget: Executor.forget,
}  # fmt: skip


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


def _room(signature: inspect.Signature) -> range:
    kinds = [(part.kind, part.default is part.empty) for part in signature.parameters.values()]
    if (inspect.Parameter.KEYWORD_ONLY, True) in kinds:
        return range(0)
    named = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    least = sum(kind in named and needed for kind, needed in kinds)
    most = sys.maxsize if inspect.Parameter.VAR_POSITIONAL in dict(kinds) else sum(kind in named for kind, _ in kinds)
    return range(least, most + 1)


def _leaves(target, args: list, kwargs: dict) -> dict[str, torch.Tensor]:
    """What a gradient is asked for, by name: the float tensors among the arguments, and the parameters."""
    leaves: dict[str, torch.Tensor] = {}
    for name, value in [*((str(i), value) for i, value in enumerate(args)), *kwargs.items()]:
        _gather(f"argument {name}", value, leaves)
    owner = getattr(target, "__self__", target)
    if isinstance(owner, MODULE):
        for name, parameter in parameters(owner).items():
            if REQUIRES_GRAD(parameter):
                leaves[f"parameter {name}"] = parameter
    return leaves


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


def _text(error: BaseException) -> str:
    try:
        text = error.msg if type(error) in (SyntaxError, IndentationError, TabError) else str(error)
        return text[:MAX_MESSAGE].encode(errors="replace").decode()
    except BaseException:  # a learner's __str__ may do anything
        return "(the exception's text could not be read)"
