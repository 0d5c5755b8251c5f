"""Answers requests about one submission: runs its source, calls what it defines, and replies with plain data.

The same executor runs the solution in the grader's process, so that both are executed in the same way.
"""

import contextlib
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

import torch

from . import call_state, gradients, kernels, protocol
from .call_state import shared_memory
from .codec import Decoder, Encoder, Handle
from .fake_device import each, fake_device, move_module
from .modules import BASES, MODULE, describe, set_parameters, watched_graphs
from .op_record import OpRecord
from .protocol import Reply
from .submitted_source import SubmittedSource
from .surroundings import Output

NOTHING: Any = contextlib.nullcontext()
WITH_OPERATIONS = ("operations", "launches")


class NoCall(Exception):
    """What is asked for cannot be called so: `reply` says why."""

    def __init__(self, reply: Reply):
        super().__init__()
        self.reply = reply


class Executor:
    """One loaded submission and the objects made from it. `handle` answers one request."""

    def __init__(self) -> None:
        self.source = SubmittedSource()
        self.objects: dict[int, object] = {}  # by the number of their Handle
        self.output = Output()

    def handle(self, request: protocol.Request, tensors: list) -> tuple[protocol.Reply, list]:
        """The reply to one request, and its tensors. Any exception of the learner's code becomes part of the reply."""
        encoder = Encoder(self.keep)
        call_state.restore_defaults()
        printed = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = self.output
        decoder = Decoder(tensors, lambda number, class_name: self.objects[number], strides=True)
        try:
            answer = WANTED.get(getattr(request, "want", ""), HANDLERS[type(request)])
            reply = answer(self, request, decoder, encoder)
        except NoCall as reason:
            reply = reason.reply
        except BaseException as error:  # also SystemExit and KeyboardInterrupt
            encoder, reply = Encoder(), Reply(error=self.source.explain(error))
        finally:
            sys.stdout, sys.stderr = printed
        reply.output = self.output.take()
        return reply, encoder.tensors

    # The methods that answer requests: see HANDLERS.

    def load(self, request: protocol.Load, decoder: Decoder, encoder: Encoder) -> Reply:
        """Run the source as a module with the exercise's name, or compile it to run it step by step."""
        self.source = SubmittedSource(request.filename, request.name)
        sys.argv = [request.filename]
        self.source.begin(request)
        return Reply() if request.stepwise else self.source.run(None)

    def step(self, request: protocol.Step, decoder: Decoder, encoder: Encoder) -> Reply:
        """Run the next statement of the source."""
        return self.source.run(1)

    def call(self, request: protocol.Call, decoder: Decoder, encoder: Encoder) -> Reply:
        """Make the call. The value of the reply is the result, perhaps with more beside it: see protocol.Call."""
        target, args, kwargs = self.prepare(request, decoder)
        want, options = request.want, request.options
        placing = fake_device() if request.device == "meta" else NOTHING
        graph = watched_graphs() if want == "graph" else NOTHING
        record = OpRecord() if want in WITH_OPERATIONS else NOTHING
        launches = kernels.Record(self.source.filename, options["backwards"]) if want == "launches" else NOTHING
        for value, is_wanted in zip(args, options.get("wanted", ())):  # of the first arguments
            value.requires_grad_(is_wanted)
        with graph as graphs, placing, record, launches:
            for _ in range(request.times - 1):
                target(*each(torch.clone, args), **each(torch.clone, kwargs))
            value = target(*args, **kwargs)
        if want == "inputs":
            value = [value, *call_state.with_states(args, kwargs)]
        elif want == "graph":
            stays_on = torch.is_grad_enabled()
            with torch.no_grad():
                target(*args, **kwargs)
                stays_off = not torch.is_grad_enabled()
            value = [value, any(graphs), stays_on, stays_off]
        elif want == "memory":
            value = [value, shared_memory(value, [*args, *kwargs.values()])]
        elif want == "backward":
            value = gradients.entries_of(value, call_state.on_device(decoder.value(options["grad"]), request.device))
        reply = Reply(value=self.encode(value, request, encoder))
        if record is not NOTHING:
            reply.operations, reply.unrecorded = record.rows, record.problem
        if launches is not NOTHING:
            reply.launches = [launch.row() for launch in launches.launches]
            reply.unrecorded = record.problem or launches.problem
        return reply

    def read_attribute(self, request: protocol.Call, decoder: Decoder, encoder: Encoder) -> Reply:
        """Read an attribute. An AttributeError from inside a property is the learner's own."""
        number, name = request.target
        owner = self.objects[number]
        call_state.set_seed(decoder.value(request.seed), request.device)
        try:
            value = owner if name == "__call__" else getattr(owner, name)
            value = len(owner) if name == "__len__" else value  # type: ignore[arg-type]  # TypeError is the learner's
        except AttributeError:
            if any(name in vars(base) for base in BASES(type(owner))):
                raise
            raise self.missing(request) from None
        return Reply(value=self.encode(value, request, encoder))

    def hold_value(self, request: protocol.Hold, decoder: Decoder, encoder: Encoder) -> Reply:
        """Keep a value of the grader's here."""
        value = call_state.on_device(decoder.value(request.node), request.device)
        return Reply(value=encoder.node(self.hold(value)))

    def call_for_gradients(self, request: protocol.Call, decoder: Decoder, encoder: Encoder) -> Reply:
        target, args, kwargs = self.prepare(request, decoder)
        leaves = gradients.leaves_of(target, args, kwargs)
        seed = request.options["cotangent_seed"]
        values, problem = gradients.gradients_of(target(*args, **kwargs), leaves, seed)
        return Reply(gradient=problem) if problem else Reply(value=encoder.node(values))

    def call_for_training(self, request: protocol.Call, decoder: Decoder, encoder: Encoder) -> Reply:
        module, args, kwargs = self.prepare(request, decoder)
        path, steps, rate = (request.options[name] for name in ("loss", "steps", "rate"))
        loss = self.target(path)
        if loss is None:
            raise NoCall(Reply(missing=path[0], names=self.source.names()))
        demand_fit(loss, [None, *args], {})
        means, problem = gradients.descend(module, lambda: loss(module(*args, **kwargs), *args), steps, rate)
        return Reply(gradient=problem) if problem else Reply(value=encoder.node(means))

    def describe(self, request: protocol.Describe, decoder: Decoder, encoder: Encoder) -> Reply:
        """Describe a module. The values of its parameters are sent only on request, as there may be a million."""
        module = self.objects[request.object]
        if not isinstance(module, MODULE):
            return Reply()
        return Reply(value=encoder.node(describe(module, request.values)))

    def assign(self, request: protocol.Assign, decoder: Decoder, encoder: Encoder) -> Reply:
        """Set parameters by name, in place. The reply lists those that do not fit the module."""
        module = self.objects[request.object]
        if not isinstance(module, MODULE):
            return Reply()
        return Reply(**set_parameters(module, decoder.value(request.parameters)))

    def convert(self, request: protocol.Convert, decoder: Decoder, encoder: Encoder) -> Reply:
        """Move a module to a device or a dtype, or set its mode (train or eval)."""
        module = self.objects[request.object]
        if not isinstance(module, MODULE):
            raise TypeError(f"{type(module).__name__} is not a torch.nn.Module")
        if request.device == "meta":
            move_module(module)
        elif request.device:
            module.to(request.device)  # by its own method, so that a class whose `to` moves nothing is noticed
        if request.dtype:
            module.to(getattr(torch, request.dtype))
        if request.training is not None:
            module.train(request.training)
        return Reply()

    def forget(self, request: protocol.Forget, decoder: Decoder, encoder: Encoder) -> Reply:
        """Drop the objects that the last check made."""
        self.objects.clear()
        return Reply()

    # Parts that several kinds of requests share.

    def prepare(self, request: protocol.Call, decoder: Decoder) -> tuple:
        """The target of the call and its arguments on the requested device. The generators are seeded.

        Raises NoCall where the target is missing, or the arguments do not fit its signature.
        """
        args, kwargs = decoder.value(request.args), decoder.value(request.kwargs)
        args, kwargs = (call_state.on_device(value, request.device) for value in (args, kwargs))
        target = self.target(request.target)
        if target is None:
            raise self.missing(request)
        call_state.set_seed(decoder.value(request.seed), request.device)
        demand_fit(target, args, kwargs)
        return target, args, kwargs

    def target(self, path: list):
        """The target of ["attention_scores"], ["MyFunction", "apply"] or [3, "forward"]; None where it is missing."""
        is_object = isinstance(path[0], int)
        value = self.objects[path[0]] if is_object else self.source.module.__dict__.get(path[0])
        if len(path) == 2 and path[1] != "__call__":
            value = getattr(value, path[1], None)
        return value if is_object or callable(value) else None

    def missing(self, request: protocol.Call) -> NoCall:
        """The reason where the target is missing."""
        owner, *methods = request.target
        name = owner if isinstance(owner, str) else type(self.objects[owner]).__name__
        if methods != ["__call__"] and (isinstance(owner, int) or owner in self.source.module.__dict__):
            name = ".".join([name, *methods])
        return NoCall(Reply(missing=name, names=self.source.names()))

    def encode(self, value, request: protocol.Call, encoder: Encoder):
        """The node of a result, or of a handle where the request keeps the result here."""
        is_kept = request.kept and type(value) is not types.MethodType
        return encoder.node(self.hold(value) if is_kept else value)

    def hold(self, value) -> Handle:
        """A handle for any object. Its number is new even if the object has one: the numbers follow from the requests
        alone, which a diagnosis sends to other code, too."""
        self.objects[number := len(self.objects)] = value
        return Handle(number, type(value).__name__ if self.is_known(value) else "")

    def keep(self, value) -> Handle | None:
        """A handle for an object of a class that the source defines, or for any nn.Module; None for others."""
        if not self.is_known(value):
            return None
        number = next((number for number, kept in self.objects.items() if kept is value), len(self.objects))
        self.objects[number] = value
        return Handle(number, type(value).__name__)

    def is_known(self, value) -> bool:
        """Whether it is an object of a class that the source defines, or an nn.Module."""
        return isinstance(value, MODULE) or type(value).__module__ == self.source.module.__name__


def demand_fit(target: Any, args: list, kwargs: dict) -> None:
    """Raise NoCall where the arguments do not fit the target's signature. A target may have none."""
    function = target.forward if isinstance(target, MODULE) else target
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        own = f"{getattr(function, '__name__', 'call')}{signature}"
        raise NoCall(Reply(signature=f"{own}: {error}"[:300])) from None


HANDLERS: dict[type, Callable[..., Reply]] = {
    protocol.Load: Executor.load, protocol.Step: Executor.step, protocol.Call: Executor.call,
    protocol.Hold: Executor.hold_value, protocol.Describe: Executor.describe, protocol.Assign: Executor.assign,
    protocol.Convert: Executor.convert, protocol.Forget: Executor.forget,
}  # fmt: skip
WANTED: dict[str, Callable[..., Reply]] = {  # of calls, what is not answered by `call`
    "attribute": Executor.read_attribute, "gradients": Executor.call_for_gradients,
    "training": Executor.call_for_training,
}  # fmt: skip
