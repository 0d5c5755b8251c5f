"""Runs Triton kernels by Triton's interpreter, on tensors with NaN around them, and records a call's launches.

In the interpreter a kernel is Python over numpy, and an address is a real one. So a launch works on copies of the
tensors that are passed to it, each storage between two stretches of NaN, with NaN in its gaps. A lane that leaves the
elements is left out: a load gives NaN there, as the memory behind a tensor might hold, and a store writes nothing. A
masked load that names no `other` gives NaN too, where a GPU may give anything. What else writes around the tensors is
found by comparing the NaN afterwards.

Six parts of Triton are replaced, of its builder and of its launches. They are private, so its version is pinned.
"""

import collections
import dataclasses
import functools
import math
import os
import sys
import types
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

try:
    import numpy
except ImportError:  # a worker without ready-made functions has none, and interprets no kernel
    pass

PACKAGE = "triton"
# For the import, whose filter hides the entry points of Triton's parts; the last one prevents a warning.
SETTINGS = {"TRITON_BACKENDS_IN_TREE": "1", "TRITON_DEFAULT_FP_FUSION": "1"}
MAX_LAUNCHES, MAX_OUTSIDE, MAX_CAUSES = 100, 20, 50  # of one call, of a launch, of an exception
AROUND, NAN = 1 << 16, 0xFF  # bytes before and behind a storage; each is NAN, so that a number of them is NaN or −1
INNER = slice(AROUND, -AROUND)
CACHE = "/tmp/triton"  # where a GPU's compiled kernels are kept
TOO_MANY = f"the call launches more than {MAX_LAUNCHES} kernels"
# A kernel that is run once before any fork: the first one of a process imports and compiles.
WARM_UP = """
import torch
import triton
import triton.language as tl

@triton.jit
def kernel(x, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(x + lanes, tl.max(tl.load(x + lanes, mask=lanes < 1, other=0.0), axis=0))

kernel[(1,)](torch.ones(16), 16)
"""


class State:
    """What the replaced parts of Triton look at: the launch that runs, and the record of the call, if one is made."""

    launch: "Launch | None" = None
    record: "Record | None" = None


class Padded:
    """A copy of a storage with NaN around it and between the elements of the tensors that lie in it."""

    def __init__(self, storage: torch.UntypedStorage, tensors: list[torch.Tensor]):
        self.original = torch.empty(0, dtype=torch.uint8).set_(storage)
        self.bytes = torch.full((storage.nbytes() + 2 * AROUND,), NAN, dtype=torch.uint8)
        self.valid = torch.zeros(len(self.bytes), dtype=torch.bool)
        for tensor in tensors:
            item = tensor.element_size()
            strides = [item * stride for stride in tensor.stride()]
            start = AROUND + item * tensor.storage_offset()
            self.valid.as_strided([*tensor.shape, item], [*strides, 1], start).fill_(True)
        self.bytes[INNER] = torch.where(self.valid[INNER], self.original, NAN)
        self.first = self.bytes.data_ptr()

    def tensor(self, like: torch.Tensor) -> torch.Tensor:
        """The tensor in the copy that stands for one in the storage."""
        start = AROUND // like.element_size() + like.storage_offset()
        made = torch.empty(0, dtype=like.dtype)
        return made.set_(self.bytes.untyped_storage(), start, like.size(), like.stride())

    def holds(self, addresses):
        """Whether each address is that of an element: an array of bools."""
        offsets = addresses.astype("int64") - self.first
        is_near = (offsets >= 0) & (offsets < len(self.valid))
        return is_near & self.valid.numpy()[numpy.where(is_near, offsets, 0)]

    def give_back(self) -> int:
        """Copy what the kernel wrote into the original. Returns how many bytes around the elements it changed."""
        self.original.copy_(torch.where(self.valid[INNER], self.bytes[INNER], self.original))
        return int(((self.bytes != NAN) & ~self.valid).sum())


class Launch:
    """One launch of a kernel. largest: lanes of the largest load; outside: lanes that left the tensors, by place."""

    def __init__(self, name: str):
        self.name, self.grid, self.largest = name, (0, 0, 0), 0  # until a program runs
        self.outside: collections.Counter[tuple[int, str]] = collections.Counter()  # by line and kind
        self.padded: dict[int, Padded] = {}  # by the address of a storage

    def row(self) -> list:
        """The launch as protocol.Reply has it."""
        outside = [[line, kind, count] for (line, kind), count in self.outside.items()][:MAX_OUTSIDE]
        return [self.name[:100], list(self.grid), self.largest, outside]


class Record:
    """The launches within it, in order. Enter it around the call.

    filename: of the learner's source; backwards: whether the programs run in reverse order. What torch makes without
    values holds NaN within it, so that a number that was never written shows itself. problem: why it is incomplete.
    """

    def __init__(self, filename: str, backwards: bool = False):
        self.filename, self.backwards = filename, backwards
        self.launches: list[Launch] = []
        self.problem: str | None = None

    def __enter__(self):
        State.record = self
        self._deterministic = torch.are_deterministic_algorithms_enabled()
        torch._C._set_deterministic_algorithms(True, warn_only=True)
        return self

    def __exit__(self, *exception):
        State.record = None
        torch._C._set_deterministic_algorithms(self._deterministic, warn_only=False)


@functools.cache
def take_in() -> None:
    """Import Triton as an interpreter and watch its launches, once in a process. Raises ImportError."""
    os.environ.update({**SETTINGS, "TRITON_INTERPRET": "1"})
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE and "._C" not in name]:
        del sys.modules[name]  # torch's compiler has imported it, and what it decorates is compiled
    from triton.runtime import interpreter

    builder, executor = interpreter.interpreter_builder, interpreter.GridExecutor
    # Whether whole numbers overflow is not looked at on a GPU either, and takes half of the time.
    builder.options = dataclasses.replace(builder.options, sanitize_overflow=False)
    builder.create_masked_load = functools.partial(_load, interpreter, builder.create_masked_load)
    builder.create_masked_store = functools.partial(_store, interpreter, builder.create_masked_store)
    builder.set_grid_idx = functools.partial(_program, builder, builder.set_grid_idx)
    executor.__call__ = functools.partialmethod(_launch, executor.__call__)
    executor._init_args_hst, executor._restore_args_dev = _pad, _give_back


def are_native(plan: dict) -> bool:
    """Whether kernels are compiled for the GPU, which runs programs and writes files: no sandbox allows it."""
    return PACKAGE in plan["needs"] and plan["device"] == "cuda" and not plan["seccomp"]


def begin(natively: bool) -> None:
    """In the fork server: import Triton, and launch a kernel, so that a worker can do both without opening a file.

    natively: see are_native. What torch makes without values holds NaN, since it may hold zeros by chance, and a kernel
    would seem right.
    """
    torch._C._set_deterministic_algorithms(True, warn_only=True)
    if natively:
        os.environ.update({**SETTINGS, "TRITON_CACHE_DIR": CACHE})
        import triton.language  # noqa: F401
    else:
        take_in()
        launch_a_kernel()


def launch_a_kernel() -> None:
    """Launch one of our own, in a process that computes in one thread from now on."""
    from .submitted_source import SubmittedSource

    torch.set_num_threads(1)
    SubmittedSource("a_kernel.py", "a_kernel").run_whole(WARM_UP)
    del sys.modules["a_kernel"]


# The parts that stand in for Triton's own. `original` is the one that is replaced.


def _load(interpreter, original, ptrs, mask, other, *rest):
    dtype = ptrs.get_element_ty()
    kind = interpreter._get_np_dtype(dtype)
    masked, inside = _lanes("load", ptrs.data, mask)
    data = numpy.full(ptrs.data.shape, math.nan if kind.kind == "f" else 0, kind)
    if other is not None:
        data = numpy.where(masked, data, other.data).astype(kind)
    handles = [interpreter.TensorHandle(inside, interpreter.tl.int1), interpreter.TensorHandle(data, dtype)]
    return original(ptrs, *handles, *rest)


def _store(interpreter, original, ptrs, value, mask, *rest):
    _, inside = _lanes("store", ptrs.data, mask)
    return original(ptrs, value, interpreter.TensorHandle(inside, interpreter.tl.int1), *rest)


def _lanes(kind: str, addresses, mask):
    """The lanes that are masked, and those of them that are inside of the tensors; the others are noted."""
    masked = numpy.broadcast_to(getattr(mask, "data", mask), addresses.shape).astype(bool)
    inside = numpy.zeros_like(masked)
    launch = State.launch
    if launch is not None:  # outside of a launch there is no tensor to be inside of
        for padded in launch.padded.values():
            inside |= masked & padded.holds(addresses)
        if kind == "load":
            launch.largest = max(launch.largest, addresses.size)
        if left := int((masked & ~inside).sum()):
            launch.outside[_line(), kind] += left
    return masked, inside


def _line() -> int:
    """The learner's line that runs; 0 where none is known."""
    frame: types.FrameType | None = sys._getframe(1)
    filename = State.record.filename if State.record is not None else ""
    while frame is not None and frame.f_code.co_filename != filename:
        frame = frame.f_back
    return frame.f_lineno if frame is not None else 0


def _program(builder, original, x, y, z):
    width, height, depth = builder.grid_dim
    if State.launch is not None:
        State.launch.grid = (int(width), int(height), int(depth))
    if State.record is not None and State.record.backwards:
        x, y, z = width - 1 - x, height - 1 - y, depth - 1 - z
    original(x, y, z)


def _launch(self, original, *args, **kwargs):
    outer, record = State.launch, State.record
    State.launch = launch = Launch(str(getattr(self.fn, "__name__", "")))
    if record is not None and len(record.launches) == MAX_LAUNCHES:
        record.problem = TOO_MANY
    elif record is not None:
        record.launches.append(launch)
    try:
        with numpy.errstate(all="ignore"):  # a GPU gives inf and NaN without a word
            return original(self, *args, **kwargs)
    finally:
        State.launch = outer


def _pad(self, args, kwargs):
    """The arguments with padded copies of the tensors among them."""
    launch: Any = State.launch
    by_storage: dict[int, list[torch.Tensor]] = {}
    for tensor in filter(_is_kept_inside, (*args, *kwargs.values())):
        by_storage.setdefault(tensor.untyped_storage().data_ptr(), []).append(tensor)

    def inside(value):
        return launch.padded[value.untyped_storage().data_ptr()].tensor(value) if _is_kept_inside(value) else value

    with _disable_current_modes():  # what is made here is no operation of the learner's
        launch.padded = {key: Padded(same[0].untyped_storage(), same) for key, same in by_storage.items()}
        return [inside(value) for value in args], {name: inside(value) for name, value in kwargs.items()}


def _give_back(self, *args):
    launch: Any = State.launch
    with _disable_current_modes():
        for padded in launch.padded.values():
            if changed := padded.give_back():
                launch.outside[0, "store"] += changed


def _is_kept_inside(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == "cpu" and value.layout is torch.strided


def causes(error: BaseException) -> list[BaseException]:
    """An exception; one from within a kernel with what caused it, the first cause last.

    The interpreter wraps an exception once for each kernel that calls another one.
    """
    chain, cause = [error], error.__cause__
    while cause is not None and str(type(chain[-1]).__module__).startswith(f"{PACKAGE}.") and len(chain) < MAX_CAUSES:
        chain.append(cause)
        cause = cause.__cause__
    return chain
