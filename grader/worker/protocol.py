"""Every message between the grader and a worker, declared once; both sides import this module.

Requests and the reply are dataclasses. In a body (wire.py) a message is its fields as JSON, followed by the tensors of
its nodes; a node is a value as codec.Encoder makes it. Code in the worker's process can write anything into a reply, so
FIELDS has a test for each of its fields.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import get_args

from . import wire
from .wire import ProtocolError, RawTensor, is_shape

MAX_TEXT = 20_000  # characters of one text
MAX_ROWS = 1_000  # items of one list
MAX_OPERATIONS = 8_000  # operations in one record
MAX_SHAPES = 16  # shapes of the input tensors, or of the output tensors, of one operation


def _is_text(value) -> bool:
    return type(value) is str and len(value) <= MAX_TEXT


def _is_int(end: int):
    """A test for ints from 0 to below `end`."""
    return lambda value: type(value) is int and 0 <= value < end


def _is_seconds(value) -> bool:
    return type(value) is float and 0.0 <= value < 1e6


def _is_list(is_item, most: int = MAX_ROWS):
    """A test for lists of at most `most` items. is_item: a test for one."""
    return lambda value: type(value) is list and len(value) <= most and all(map(is_item, value))


def _is_row(*columns):
    """A test for lists of one item for each of `columns`, which are the tests for them."""
    return lambda value: (
        type(value) is list and len(value) == len(columns) and all(test(cell) for test, cell in zip(columns, value))
    )


_is_line, _is_size = _is_int(1 << 31), _is_int(1 << 40)
_is_texts = _is_list(_is_text)
_is_shapes = _is_list(is_shape, MAX_SHAPES)
ERROR = {
    "type": _is_text, "bases": _is_texts, "message": _is_text,
    "missing_module": lambda value: value is None or _is_text(value),
    "frames": _is_list(_is_row(_is_line, _is_text, _is_text)),
}  # fmt: skip


def _is_error(value) -> bool:
    return type(value) is dict and value.keys() == ERROR.keys() and all(ERROR[name](value[name]) for name in ERROR)


FIELDS = {
    "output": _is_text, "error": _is_error, "missing": _is_text, "names": _is_texts, "signature": _is_text,
    "gradient": _is_text,
    "operations": _is_list(_is_row(_is_text, _is_shapes, _is_shapes), MAX_OPERATIONS), "unrecorded": _is_text,
    "launches": _is_list(_is_row(_is_text, is_shape, _is_size, _is_list(_is_row(_is_line, _is_text, _is_size)))),
    "unknown": _is_texts,
    "misshapen": _is_list(_is_row(_is_text, is_shape, is_shape)), "surplus": _is_texts,
    "left_out": _is_list(_is_row(_is_line, _is_seconds, _is_error)),
}  # fmt: skip


@dataclass(frozen=True)
class Load:
    """Run a source as a module of this name. The reply has the `names` that it defines, and what was `left_out`.

    cells: whether it is a notebook's. skip: the numbers of the top-level statements that are not run. seconds: the
    limit for all statements together, or None. stepwise: the source is only compiled; a Step runs each statement.
    """

    source: str
    filename: str
    name: str
    cells: bool = False
    skip: list = field(default_factory=list)
    seconds: float | None = None
    stepwise: bool = False


@dataclass(frozen=True)
class Step:
    """Run the next top-level statement of the source. The reply has the `names` after the last statement."""


@dataclass(frozen=True)
class Call:
    """Call a function or a class (["softmax_naive"]), or an object's method ([3, "forward"]). The value is the result.

    args, kwargs: nodes. seed: the node of an int or of a state of torch's generator. device: the arguments are moved to
    it. kept: the result stays in the worker, and the value is its Handle. times: how often the call is made, each time
    with new copies of the tensors among the arguments; the result is the last one.

    want: what the value is. "output": the result. "inputs": [result, positional arguments after the call, named ones].
    "graph": [result, whether a result of a module had a graph, whether grad mode is on afterwards].
    "memory": [result, "" or one of call_state.SHARED: how its tensors share their memory].
    "operations": the result; the reply also has the operations of torch that ran in the call.
    "launches": the same, with the kernels that were launched. `backwards`: their programs run in reverse order.
    "backward": a list, what `result.grad_fn.apply(grad)` gives, one entry for each argument. `wanted` says for each of
    the first arguments whether it requires a gradient; `grad` is the node of the result's gradient.
    "gradients": of the sum of result × a random tensor of `cotangent_seed`, by argument and parameter.
    "training": the target is a module, called `steps` times, each with a step of gradient descent after it; a tensor
    with the loss at each call, the mean of what the function `loss` gives for (result, *args). `rate`: what a gradient
    is multiplied by before it is taken off its parameter.
    "attribute": that of an object ([3, "keys"]) without a call, or the object as it is now ([3, "__call__"]);
    [3, "__len__"] is the object's len().
    """

    target: list
    args: list
    kwargs: list
    seed: object
    device: str = "cpu"
    kept: bool = False
    times: int = 1
    want: str = "output"
    options: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Hold:
    """Keep a value in the worker, so that several calls are given the same one. The reply's value is its Handle."""

    node: object
    device: str = "cpu"


@dataclass(frozen=True)
class Describe:
    """Describe a module: its parameters (only shapes, unless `values`) and its parts. object: a Handle's number."""

    object: int
    values: bool = True


@dataclass(frozen=True)
class Assign:
    """Set parameters of a module by name. The reply lists those that are `unknown`, `misshapen` or `surplus`."""

    object: int
    parameters: list


@dataclass(frozen=True)
class Convert:
    """Move a module to a device or a dtype ("float64"), or set its mode. None leaves it as it is."""

    object: int
    device: str | None = None
    dtype: str | None = None
    training: bool | None = None


@dataclass(frozen=True)
class Forget:
    """Drop the objects that the last check made."""


Request = Load | Step | Call | Hold | Describe | Assign | Convert | Forget
REQUESTS: dict[str, type] = {kind.__name__: kind for kind in get_args(Request)}


@dataclass
class Reply:
    """The reply to a request. Fields that a reply does not need are None.

    value: a node. output: what was printed. error: an exception as plain data (see SubmittedSource.explain). missing:
    the name of a function that the source does not define. names: those that it defines. signature: why the arguments
    do not fit the signature. gradient: why there is no gradient. operations: [name, input shapes, output shapes] of
    each that was recorded, in order. unrecorded: why these are not all. launches: [kernel, programs along each axis,
    lanes of its largest load, rows of [line, "load" or "store", lanes] that left the kernel's tensors]. unknown,
    misshapen, surplus: see modules.set_parameters. left_out: [first line of a statement that failed, the seconds after
    which it was stopped or 0.0, the exception].
    """

    value: object = None
    output: str = ""
    error: dict | None = None
    missing: str | None = None
    names: list | None = None
    signature: str | None = None
    gradient: str | None = None
    operations: list | None = None
    unrecorded: str | None = None
    launches: list | None = None
    unknown: list | None = None
    misshapen: list | None = None
    surplus: list | None = None
    left_out: list | None = None


def encode_request(request: Request, tensors: Sequence[RawTensor] = ()) -> bytes:
    """The body of a request. Raises ProtocolError where it would exceed a limit of wire.py."""
    return wire.encode({"kind": type(request).__name__, **vars(request)}, tensors)


def decode_request(body: bytes | bytearray) -> tuple[Request, list[RawTensor]]:
    """The request in a body, and its tensors. It is not checked, since only the grader sends requests."""
    message, tensors = wire.decode(body)
    return REQUESTS[message.pop("kind")](**message), tensors


def encode_reply(reply: Reply, tensors: Sequence[RawTensor] = ()) -> bytes:
    """The body of a reply. Raises ProtocolError where it would exceed a limit of wire.py."""
    return wire.encode({name: value for name, value in vars(reply).items() if value is not None}, tensors)


def decode_reply(body: bytes | bytearray) -> tuple[Reply, list[RawTensor]]:
    """The reply in a body that untrusted code may have written, and its tensors.

    Raises ProtocolError where a field does not have the type that it must have. `value` is checked by codec.Decoder.
    """
    message, tensors = wire.decode(body)
    for name, value in message.items():
        if name != "value" and (name not in FIELDS or not FIELDS[name](value)):
            raise ProtocolError("a part of the reply is none of ours")
    return Reply(**message), tensors
