"""Runs Triton kernels by Triton's interpreter, keeps them inside of their tensors, and records a call's launches.

In the interpreter a kernel is Python over numpy, and an address is a real one: a load that leaves its tensor reads
other memory of the process, a store writes it. So each access is looked at before it is made. An address that is no
element of a tensor passed to the kernel is left out: a load gives NaN there, as the memory behind a tensor might hold,
and a store writes nothing. A masked load that names no `other` gives NaN too, where a GPU may give anything.

The kernel sees other addresses than the real ones: each storage has a range of its own, in the order of the arguments.
Otherwise it would depend on the heap whether an address behind one tensor is an element of another one, and with it
the verdict.

Triton's parts are replaced on its one builder and on its class of a launch. They are private, so its version is pinned.
Like the watch of operations, the record is made in the process that runs the learner's code, and the grader judges it.
"""

import dataclasses
import functools
import inspect
import math
import os
import re
import sys
import types

import torch
from torch.utils._python_dispatch import _disable_current_modes

PACKAGE = "triton"
# What must be set before Triton is imported. The import filter hides by which entry points it finds its parts, and
# the last one keeps it from a warning that would be shown as the learner's.
SETTINGS = {"TRITON_BACKENDS_IN_TREE": "1", "TRITON_DEFAULT_FP_FUSION": "1"}
INTERPRETED = "TRITON_INTERPRET"
IMPORTS = re.compile(r"^[ \t]*(?:import|from)[ \t]+triton\b", re.M)
MAX_LAUNCHES = 100  # of one call, in its record
MAX_BOXES = 1_000  # pairs of a program and a tensor, in its record
MAX_OUTSIDE = 20  # accesses that leave their tensors, in its record
MAX_CAUSES = 50
RANGE = 44  # bits of the addresses that a kernel sees in one storage; the bits above them number the storage from 1
CACHE = "/tmp/triton"  # where a GPU's compiled kernels are kept
COMPILED = 1 << 26  # bytes of the largest of them
KERNELS = ("InterpretedFunction", "JITFunction")  # the classes of what @triton.jit makes
WRAPPERS = ("InterpreterError", "CompilationError")
TOO_MANY = "the call launches more programs than are recorded"
# A kernel that is run once before any fork: the first one of a process imports and compiles.
WARM_UP = """
import torch
import triton
import triton.language as tl

@triton.jit
def helper(x):
    return tl.exp(x - tl.max(x, axis=0))

@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + columns, mask=columns < n, other=-float("inf"))
    tile = helper(x)[:, None] * tl.trans(x[:, None]) + tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    tile = tl.dot(tile, tl.where(tile > 0, tile, 0.0), input_precision="ieee")
    for start in range(0, n, BLOCK):
        tile = tile.to(tl.float32) / (1 + tl.sum(tile, axis=1)[:, None] * tl.cdiv(n, BLOCK))
    tl.store(y_ptr + columns, tl.sum(tile, axis=1), mask=columns < n)

def f(x):
    y = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 16),)](x, y, x.numel(), BLOCK=16)
    return y
"""


class State:
    """What the replaced parts of Triton look at: the launch that runs, and the record of the call, if one is made."""

    launch: "Launch | None" = None
    is_called = False  # whether a kernel runs without a launch, as a function
    record: "Record | None" = None


class Memory:
    """The elements of one tensor: which addresses are theirs, and at which place each is."""

    def __init__(self, tensor: torch.Tensor, first: int | None = None):
        """first: the address of the first element, where it is not the real one."""
        self.first = tensor.data_ptr() if first is None else first
        self.shape, self.item = tuple(tensor.shape), tensor.element_size()
        strides = sorted((s * self.item, axis) for axis, s in enumerate(tensor.stride()) if s and self.shape[axis] > 1)
        self.strides = strides[::-1]  # (bytes, axis), the largest first
        self.is_empty = tensor.numel() == 0
        # In a tensor without gaps all addresses from the first to the last are elements.
        self.bytes = tensor.numel() * self.item if tensor.is_contiguous() else 0

    def holds(self, addresses):
        """Whether each address is that of an element: an array of bools."""
        offsets = addresses.astype("int64") - self.first
        if self.is_empty:
            return offsets < offsets
        if self.bytes:
            return (offsets >= 0) & (offsets < self.bytes) & (offsets % self.item == 0)
        inside, rest, _ = self._places(offsets)
        return inside & (rest == 0)

    def box(self, addresses) -> tuple[list[int], list[int]]:
        """The lowest and the highest index along each dimension of the elements at these addresses."""
        _, _, places = self._places(addresses.astype("int64") - self.first)
        lows = [int(places[axis].min()) if axis in places else 0 for axis in range(len(self.shape))]
        highs = [int(places[axis].max()) if axis in places else 0 for axis in range(len(self.shape))]
        return lows, highs

    def _places(self, offsets):
        inside, rest, places = offsets >= 0, offsets, {}
        for stride, axis in self.strides:
            places[axis], rest = rest // stride, rest % stride
            inside = inside & (places[axis] < self.shape[axis])
        return inside, rest, places


class Launch:
    """One launch of a kernel. memories: those of the tensors passed to it, by the addresses that the kernel sees."""

    def __init__(self, name: str):
        self.name, self.grid, self.program = name, (0, 0, 0), 0  # until a program runs
        self.memories: list[Memory] = []
        self.storages: list[int] = []  # the real address of each storage
        self.patched: set[int] = set()  # the modules for whose functions Triton's language was set up in this launch
        self.largest = 0  # lanes of the largest load
        self.outside: dict[tuple[int, str], int] = {}  # lanes that left the tensors, by line and kind
        self.accesses: dict[tuple[int, str], list] = {}  # arrays of real addresses by program and kind

    def take(self, tensors: list[torch.Tensor]) -> None:
        """Take note of the tensors that were passed."""
        self.storages = list(dict.fromkeys(tensor.untyped_storage().data_ptr() for tensor in tensors))
        self.memories = [Memory(tensor, self.seen(tensor)) for tensor in tensors]

    def seen(self, tensor: torch.Tensor) -> int:
        """The address that the kernel sees of a tensor that was passed."""
        storage = tensor.untyped_storage().data_ptr()
        return (self.storages.index(storage) + 1 << RANGE) + tensor.data_ptr() - storage

    def real(self, addresses):
        """The real address of each address that the kernel sees; 0 of those in no storage."""
        import numpy

        storages = numpy.array([0, *self.storages], "uint64")
        number = addresses >> numpy.uint64(RANGE)
        number = numpy.where(number < len(storages), number, 0).astype("int64")
        offsets = addresses & numpy.uint64((1 << RANGE) - 1)
        return numpy.where(number > 0, storages[number] + offsets, numpy.uint64(0))

    def inside(self, addresses):
        """Whether each address is that of an element of a tensor that was passed."""
        found = addresses != addresses
        for memory in self.memories:
            found = found | memory.holds(addresses)
        return found


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

    def begin(self, launch: Launch) -> None:
        """Take note of a launch."""
        if len(self.launches) == MAX_LAUNCHES:
            self.problem = TOO_MANY
        else:
            self.launches.append(launch)

    def rows(self, result, args, kwargs) -> tuple[list[list], list[list]]:
        """The launches and what their programs touched, as protocol.Reply has them."""
        import numpy

        owners = [(f"argument {name}", tensor) for name, tensor in _named(args, kwargs)]
        owners += [("result", tensor) for tensor in _tensors(result)]
        memories = [(owner, Memory(tensor)) for owner, tensor in owners]
        launches: list[list] = []
        touched: list[list] = []
        for number, launch in enumerate(self.launches):
            stored = [part for (_, kind), parts in launch.accesses.items() if kind == "store" for part in parts]
            written = numpy.unique(numpy.concatenate(stored)) if stored else numpy.zeros(0, "uint64")
            of_result = [memory.holds(written) for owner, memory in memories if owner == "result"]
            outside = [[line, kind, count] for (line, kind), count in launch.outside.items()][:MAX_OUTSIDE]
            count = int(numpy.logical_or.reduce(of_result).sum()) if of_result else 0
            launches.append([launch.name[:100], list(launch.grid), launch.largest, count, outside])
            for (program, kind), parts in launch.accesses.items():
                addresses = numpy.concatenate(parts)
                for owner, memory in memories:
                    own = addresses[memory.holds(addresses)]
                    if not own.size:
                        continue
                    if len(touched) == MAX_BOXES:
                        self.problem = TOO_MANY
                        return launches, touched
                    touched.append([number, program, kind, owner, own.size, *memory.box(own)])
        return launches, touched


def imports(source: str) -> bool:
    """Whether a source imports Triton."""
    return PACKAGE in source and IMPORTS.search(source) is not None


def take_in() -> None:
    """Import Triton as an interpreter and watch its launches, once in a process. Raises ImportError."""
    if _is_watched():
        return
    os.environ.update({**SETTINGS, INTERPRETED: "1"})
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE and "._C" not in name]:
        del sys.modules[name]  # torch's compiler has imported it, and what it decorates is compiled
    from triton.runtime import interpreter

    builder, executor = interpreter.interpreter_builder, interpreter.GridExecutor
    # Whether whole numbers overflow is not looked at on a GPU either, and takes half of the time.
    builder.options = dataclasses.replace(builder.options, sanitize_overflow=False)
    interpreter._get_np_dtype = _look_up(interpreter.tl.dtype, interpreter._get_np_dtype)
    _keep_block_types(interpreter.tl.core)
    semantic = type(interpreter.interpreter_semantic)
    semantic.broadcast_impl_value = _broadcast(semantic.broadcast_impl_value)
    interpreter._patch_builtin = _lasting(interpreter)
    builder.create_masked_load = _load(interpreter, builder.create_masked_load)
    builder.create_masked_store = _store(interpreter, builder.create_masked_store)
    builder.create_atomic_rmw = _atomic(interpreter, builder.create_atomic_rmw)
    builder.create_atomic_cas = _exchange(builder.create_atomic_cas)
    builder.set_grid_idx = _program(builder, builder.set_grid_idx)
    executor.__call__ = _launch(executor.__call__)
    executor._init_args_hst = _arguments(executor._init_args_hst)
    interpreter._implicit_cvt = _pointer(interpreter, interpreter._implicit_cvt)
    executor._restore_args_dev = _unseen(executor._restore_args_dev)
    interpreter.InterpretedFunction.__call__ = _called(interpreter, interpreter.InterpretedFunction.__call__)
    interpreter.FunctionRewriter._compile_and_exec = _rewritten
    interpreter.watched = True


def are_native(plan: dict) -> bool:
    """Whether kernels are compiled for the GPU, which runs programs and writes files: no sandbox allows it."""
    return PACKAGE in plan["needs"] and plan["device"] == "cuda" and not plan["seccomp"]


def begin(natively: bool) -> None:
    """In the fork server: import Triton, and launch a kernel, so that a worker can do both without opening a file.

    natively: see are_native.
    What torch makes without values holds NaN, since it may hold zeros by chance, and a kernel would seem right.
    """
    torch._C._set_deterministic_algorithms(True, warn_only=True)
    if natively:
        os.environ.update({**SETTINGS, "TRITON_CACHE_DIR": CACHE})
        import triton.language  # noqa: F401
    else:
        torch.set_num_threads(1)
        take_in()
        warm_up()


def warm_up() -> None:
    """Launch a kernel, so that forks inherit what the first launch imports."""
    x = torch.ones(20)
    with Record("a_kernel.py") as record:
        record.rows(launch_a_kernel(x), [x], {})


def launch_a_kernel(x: torch.Tensor) -> torch.Tensor:
    """The result of a kernel of our own."""
    from .submitted_source import SubmittedSource

    source = SubmittedSource("a_kernel.py", "a_kernel")
    source.run_whole(WARM_UP)
    del sys.modules["a_kernel"]
    return source.module.f(x)


def _is_watched() -> bool:
    interpreter = sys.modules.get("triton.runtime.interpreter")
    return interpreter is not None and hasattr(interpreter, "watched")


# The parts that stand in for Triton's own. Each is given the one that it replaces.


def _look_up(plain, original):
    """numpy's dtype of one of Triton's, which makes the whole table each time."""
    of_plain = functools.lru_cache(64)(original)
    return lambda dtype: of_plain(dtype) if type(dtype) is plain else original(dtype)


def _keep_block_types(core):
    """Give all tiles of a shape the same shape and size. Triton makes both for each, a third of a kernel's time."""
    block, tile, make = core.block_type, core.tensor, core.block_type.__init__

    @functools.lru_cache(1000)
    def shapes(*shape):
        """The shape and the size of a type, and those that its tiles show."""
        made = object.__new__(block)
        make(made, core.dtype("int8"), list(shape))
        shown = core.tuple([core.constexpr(size) for size in made.shape])
        return made.shape, made.numel, shown, core.constexpr(made.numel)

    def make_type(self, element_ty, shape):
        sizes = [size.value if type(size) is core.constexpr else size for size in shape]
        if not sizes or any(type(size) is not int for size in sizes):
            return make(self, element_ty, shape)  # it says what is wrong
        self.element_ty = element_ty
        self.shape, self.numel, self.shown, self.size = shapes(*sizes)
        self.name = f"<{self.shape}, {element_ty}>"

    def make_tile(self, handle, type):
        self.handle, self.type, self.dtype = handle, type, type.scalar
        if type.is_block():
            self.shape, self.numel = type.shown, type.size
        else:
            self.shape, self.numel = core.tuple([]), core.constexpr(1)

    block.__init__, tile.__init__ = make_type, make_tile


def _broadcast(original):
    """Tiles of one shape need no look at each of its sizes."""

    def broadcast_impl_value(self, lhs, rhs):
        left, right = lhs.type, rhs.type
        is_one = left.is_block() and right.is_block() and left.shape is right.shape
        return (lhs, rhs) if is_one else original(self, lhs, rhs)

    return broadcast_impl_value


def _lasting(interpreter):
    """Set a part of the language up once. Triton sets up all of it in each launch and takes it back, in milliseconds.

    What is set up acts in a kernel alone.
    """
    semantic, done = interpreter.interpreter_semantic, set()

    def acting(member):
        def in_kernels(*args, **kwargs):
            if State.launch is not None or State.is_called:
                kwargs["_semantic"] = semantic
            return member(*args, **kwargs)

        return in_kernels

    def _patch_builtin(package, builder, scope):
        if package not in done:
            done.add(package)
            for name, member in inspect.getmembers(package, interpreter.tl.core.is_builtin):
                setattr(package, name, acting(member))

    return _patch_builtin


def _load(interpreter, original):
    import numpy

    def create_masked_load(ptrs, mask, other, *rest):
        dtype = ptrs.get_element_ty()
        kind = interpreter._get_np_dtype(dtype)
        mask = _as_bools(interpreter, mask)
        inside, addresses = _check("load", ptrs.data, mask.data)
        unknown = math.nan if kind.kind == "f" else 0
        if other is None:
            other = interpreter.TensorHandle(numpy.full(ptrs.data.shape, unknown, kind), dtype)
        if not inside.all():
            data = numpy.where(inside | ~mask.data, other.data, numpy.array(unknown, kind)).astype(kind)
            other = interpreter.TensorHandle(numpy.ascontiguousarray(data), dtype)
            mask = interpreter.TensorHandle(numpy.ascontiguousarray(mask.data & inside), mask.dtype)
        return original(interpreter.TensorHandle(addresses, ptrs.dtype), mask, other, *rest)

    return create_masked_load


def _store(interpreter, original):
    def create_masked_store(ptrs, value, mask, *rest):
        mask = _as_bools(interpreter, mask)
        inside, addresses = _check("store", ptrs.data, mask.data)
        ptrs = type(ptrs)(addresses, ptrs.dtype)
        return original(ptrs, value, mask if inside.all() else type(mask)(mask.data & inside, mask.dtype), *rest)

    return create_masked_store


def _atomic(interpreter, original):
    def create_atomic_rmw(operation, ptr, value, mask, *rest):
        mask = _as_bools(interpreter, mask)
        inside, addresses = _check("store", ptr.data, mask.data)
        mask = mask if inside.all() else type(mask)(mask.data & inside, mask.dtype)
        return original(operation, type(ptr)(addresses, ptr.dtype), value, mask, *rest)

    return create_atomic_rmw


def _exchange(original):
    def create_atomic_cas(ptr, *rest):
        inside, addresses = _check("store", ptr.data, ptr.data == ptr.data)
        if not inside.all():
            raise IndexError("an atomic operation leaves the tensors that were passed to the kernel")
        return original(type(ptr)(addresses, ptr.dtype), *rest)

    return create_atomic_cas


def _as_bools(interpreter, mask):
    """A mask with a bool for each lane. That of two single numbers holds ints, that of a block pointer is an array."""
    values = mask.data if isinstance(mask, interpreter.TensorHandle) else mask
    if values is not mask and values.dtype == bool:
        return mask
    return interpreter.TensorHandle(values.astype(bool), interpreter.tl.int1)


def _check(kind: str, addresses, mask):
    """Which lanes may be accessed: those that are masked, and those inside of the tensors; and the real addresses.

    What is active is noted.
    """
    launch = State.launch
    if launch is None:  # outside of a launch there is no tensor to be inside of
        return mask & False, addresses
    inside, real = launch.inside(addresses), launch.real(addresses)
    active = real[mask & inside]
    if kind == "load":
        launch.largest = max(launch.largest, addresses.size)
    if State.record is not None and active.size:
        launch.accesses.setdefault((launch.program, kind), []).append(active)
    left = mask & ~inside
    if left.any():
        place = (_line(), kind)
        launch.outside[place] = launch.outside.get(place, 0) + int(left.sum())
    return inside | ~mask, real


def _line() -> int:
    """The learner's line that runs; 0 where none is known."""
    frame: types.FrameType | None = sys._getframe(1)
    filename = State.record.filename if State.record is not None else ""
    while frame is not None and frame.f_code.co_filename != filename:
        frame = frame.f_back
    return frame.f_lineno if frame is not None else 0


def _program(builder, original):
    def set_grid_idx(x, y, z):
        launch, (width, height, depth) = State.launch, builder.grid_dim
        if State.record is not None and State.record.backwards:
            x, y, z = width - 1 - x, height - 1 - y, depth - 1 - z
        if launch is not None:
            launch.grid, launch.program = (int(width), int(height), int(depth)), (x * height + y) * depth + z
        original(x, y, z)

    return set_grid_idx


def _launch(original):
    import numpy

    def __call__(self, *args, **kwargs):
        outer = State.launch
        State.launch = launch = Launch(str(getattr(self.fn, "__name__", "")))
        if State.record is not None:
            State.record.begin(launch)
        try:
            with numpy.errstate(all="ignore"):  # a GPU gives inf and NaN without a word
                return original(self, *args, **kwargs)
        finally:
            State.launch = outer

    return __call__


def _called(interpreter, original):
    """A kernel that another one calls. Triton sets its language up for each such call, which takes most of its time."""

    def __call__(self, *args, **kwargs):
        module = id(self.fn.__globals__)
        if State.launch is None:
            State.is_called = True
            try:
                return original(self, *args, **kwargs)
            finally:
                State.is_called = False
        if module not in State.launch.patched:
            State.launch.patched.add(module)
            return original(self, *args, **kwargs)
        try:
            return self.rewrite()(*args, **kwargs)
        except Exception as error:
            raise interpreter.InterpreterError(repr(error)) from error

    return __call__


def _arguments(original):
    def _init_args_hst(self, args, kwargs):
        with _disable_current_modes():  # it makes views of the same memory, which are not the learner's operations
            prepared = original(self, args, kwargs)
        tensors = [*_tensors(list(prepared[0])), *_tensors(prepared[1])]
        State.launch.take(tensors)  # type: ignore[union-attr]  # a launch is under way
        return prepared

    return _init_args_hst


def _pointer(interpreter, original):
    import numpy

    def _implicit_cvt(arg):
        value = original(arg)
        if State.launch is not None and isinstance(arg, torch.Tensor) and _tensors(arg):
            value.handle = interpreter.TensorHandle(numpy.array([State.launch.seen(arg)], "uint64"), value.dtype)
        return value

    return _implicit_cvt


def _unseen(original):
    def _restore_args_dev(self, *args):
        with _disable_current_modes():
            return original(self, *args)

    return _restore_args_dev


def _rewritten(self, tree):
    """As Triton's own, but the learner's module gets two names instead of all of the interpreter's.

    With those a name that was forgotten would be one of theirs: `T` a type variable.
    """
    interpreter = sys.modules["triton.runtime.interpreter"]
    needed = ("interpreter_semantic", "_InterpreterComparison")  # Triton 3.7 has no second one
    names = {name: vars(interpreter)[name] for name in needed if hasattr(interpreter, name)}
    names["_triton_language"] = interpreter.tl
    for name, value in names.items():
        self.fn.__globals__.setdefault(name, value)
    local_names = dict(self.kwargs)
    exec(compile(tree, filename=self.filename, mode="exec"), self.fn.__globals__, local_names)
    return local_names[self.fn.__name__]


def unwrap(value: object) -> object:
    """The function of a kernel; any other value as it is."""
    function = value.__dict__.get("fn") if type(value).__name__ in KERNELS and hasattr(value, "__dict__") else None
    return function if isinstance(function, types.FunctionType) else value


def causes(error: BaseException) -> list[BaseException]:
    """An exception; one from within a kernel with what caused it, the first cause last.

    The interpreter wraps an exception once for each kernel that calls another one.
    """
    chain = [error]
    while type(error).__name__ in WRAPPERS and type(error).__module__.startswith(PACKAGE + "."):
        if not isinstance(error.__cause__, BaseException) or len(chain) == MAX_CAUSES:
            break
        error = error.__cause__
        chain.append(error)
    return chain


def _tensors(value: object) -> list[torch.Tensor]:
    """The tensors inside of a value, also that of a descriptor that is passed to a kernel."""
    if isinstance(value, torch.Tensor):
        return [value] if value.device.type == "cpu" and value.layout is torch.strided else []
    if isinstance(value, (list, tuple, dict)):
        return [tensor for item in (value.values() if isinstance(value, dict) else value) for tensor in _tensors(item)]
    return _tensors(getattr(value, "base", None)) if type(value).__name__ == "TensorDescriptor" else []


def _named(args, kwargs) -> list[tuple[str, torch.Tensor]]:
    """The tensors among the arguments, by position or name."""
    given = [*enumerate(args), *kwargs.items()]
    return [(str(name), tensor) for name, value in given for tensor in _tensors(value)]
