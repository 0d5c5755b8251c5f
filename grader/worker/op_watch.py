"""Watches one call of a function that must contain the learner's own formula, and records forbidden operations.

Two dispatch modes of torch are used. The first sees the operations that the dispatcher runs, under whatever name they
were called. The second sees which functions of torch are called by name, because torch decomposes some functions into
plain arithmetic before the dispatcher sees them. The watch never raises an exception, which the learner's code could
catch. It records hits, and the grader judges them.
"""

import functools
import os
import sys
import types

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode

from .fake_device import FakeDevice, Placed
from .operations import COMPUTING, READING, SPELLINGS, allowed, plain

MAX_HITS = 20
MAX_KNOWN = 1_000  # functions whose names were looked up
# What is recorded where a tensor class or a mode that the learner defined computes, since the watch cannot see into it.
OWN_DISPATCH, OWN_FUNCTION = "__torch_dispatch__", "__torch_function__"
TORCHS_OWN = (*torch.Tensor.__mro__, torch.nn.Parameter, Placed)
TORCH = os.path.dirname(torch.__file__) + os.sep
AUTOGRAD = ("__init__", "function", "grad_mode", "graph")  # not functional.py, which computes products
# Files of torch that only pass a call on to the dispatcher. Any other file that computes holds ready-made functions.
WRAPPERS = (
    "_tensor.py", "functional.py", "overrides.py", "_ops.py", "_VF.py", "_jit_internal.py", "random.py",
    *(f"autograd{os.sep}{name}.py" for name in AUTOGRAD),
    "nn" + os.sep, "_functorch" + os.sep, "jit" + os.sep, "utils" + os.sep,
)  # fmt: skip
PRINTING = ("_tensor_str.py", "testing" + os.sep)  # prints and assertions, whose numbers do not reach the caller
WRITTEN_IN_PYTHON = {"torch.functional", "torch.nn.functional"}
NAMESPACES = ("linalg_", "special_", "fft_", "sparse_", "_")  # torch.linalg.vecdot has the name linalg_vecdot
QUERY_RESULTS = (bool, int, torch.dtype)  # the results of allclose, promote_types: they hold no computed numbers
ATTENTION = ("nn" + os.sep + "attention" + os.sep,)


class Rule:
    """The forbidden functions and operations. It is made once for all calls with the same names and groups."""

    def __init__(self, names: tuple[str, ...], groups: tuple[str, ...]):
        self.names, self.allowed = frozenset(names), allowed(groups)
        # Half of all operations only arrange tensors. The watch passes these on without looking at the call stack.
        self.not_computing = self.allowed - COMPUTING
        self.known: dict[tuple[str, str], bool] = {}  # whether a function is forbidden, by its name and module

    @classmethod
    @functools.lru_cache(16)
    def of(cls, names: tuple[str, ...], groups: tuple[str, ...]) -> "Rule":
        """The rule with these names and groups."""
        return cls(names, groups)

    def forbids(self, name: str, module: str) -> bool:
        """Whether a function of torch is forbidden. module: the name of the Python module that holds it."""
        if type(name) is not str or type(module) is not str:  # a class of the learner's could define equality
            return self._forbids(name, module)
        if (name, module) not in self.known:
            if len(self.known) > MAX_KNOWN:  # code may call functions by as many names as it likes
                self.known.clear()
            self.known[name, module] = self._forbids(name, module)
        return self.known[name, module]

    def _forbids(self, name: str, module: str) -> bool:
        spellings = {name, *(name.removeprefix(namespace) for namespace in NAMESPACES)}
        if name == OWN_FUNCTION or not self.names.isdisjoint(spellings):
            return True
        operations = set(map(plain, spellings))
        return bool(self.allowed) and operations.isdisjoint(self.allowed) and is_composite(name, module)


class OpWatch(TorchDispatchMode):
    """Records each operation outside `groups` and each call of a name in `names`, with the line of the learner's file.

    names: of forbidden functions. groups: of operations.GROUPS; where it is empty, no operation is forbidden.
    filename: of the learner's source, as it is compiled. hits: rows of [name, line], at most MAX_HITS.
    computed: whether the call computed anything, or read a number out of a tensor to compute with it in Python.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # otherwise torch imports torch._dynamo at the first call, which takes most of a second

    def __init__(self, names: list[str], groups: list[str], filename: str):
        super().__init__()
        self.rule, self.filename = Rule.of(tuple(names), tuple(groups)), filename
        self.names, self.allowed = self.rule.names, self.rule.allowed
        self.hits: list[list] = []
        self.computed, self.calls = False, Calls(self)

    def __enter__(self):
        active_mode = _get_current_dispatch_mode()
        if active_mode is not None and type(active_mode) is not FakeDevice:
            self.hit(OWN_DISPATCH, 0)
        self.calls.__enter__()
        return super().__enter__()

    def __exit__(self, *exception):
        super().__exit__(*exception)
        self.calls.__exit__(*exception)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name, has_own_class = plain(function._schema.name), False
        if not self.allowed:  # names alone; torch's own formulas of gradients are not the learner's choice
            if name in self.names and (line := self._call_stack()[1]):
                self.hit(name, line)
            return function(*args, **(kwargs or {}))
        for tensor_class in types:
            has_own_class |= tensor_class not in TORCHS_OWN
        if name in self.rule.not_computing and not has_own_class:
            return function(*args, **(kwargs or {}))
        torch_frames, line = self._call_stack()
        result = function(*args, **(kwargs or {}))
        is_query = type(result) in QUERY_RESULTS
        if not torch_frames and not has_own_class and name in self.allowed and not is_query:  # the learner's own step
            self.computed = True
            return result
        if not any(file.startswith(PRINTING) for file, _ in torch_frames) and not is_query:
            self.computed |= name in COMPUTING
            ready_made = [
                caller for file, caller in torch_frames if not file.startswith(WRAPPERS) or file.startswith(ATTENTION)
            ]
            if name not in self.allowed:
                self.hit(name, line)
            elif ready_made and name in COMPUTING:
                self.hit(ready_made[-1], line)
            elif has_own_class:
                self.hit(OWN_DISPATCH, line)
        return result

    def called(self, name: str, module: str = "") -> None:
        """Record a call of a function of torch. module: the name of the Python module that holds the function."""
        self.computed |= name in READING
        if self.rule.forbids(name, module):
            self.hit(name, self._call_stack()[1])

    def hit(self, name: str, line: int) -> None:
        """Record a forbidden operation or function. The hits after the first MAX_HITS are dropped."""
        if len(self.hits) < MAX_HITS:
            self.hits.append([name, line])

    def _call_stack(self) -> tuple[list[tuple[str, str]], int]:
        """The (file, function) of torch's frames between an operation and the learner's code, and the learner's line.

        The innermost frame comes first. The line is 0 where no frame of the learner's file is on the stack.
        """
        frame: types.FrameType | None = sys._getframe(2)
        torch_frames = []
        while frame is not None and frame.f_code.co_filename != self.filename:
            code = frame.f_code
            if code.co_filename.startswith(TORCH):
                torch_frames.append((code.co_filename[len(TORCH) :], code.co_name))
            frame = frame.f_back
        return torch_frames, frame.f_lineno if frame is not None else 0


class Calls(TorchFunctionMode):
    """Reports each call of a function of torch to an OpWatch. Used without the watch, it costs almost no time."""

    def __init__(self, watch: OpWatch):
        super().__init__()
        self.watch = watch

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        if name != "__get__":  # by far the most frequent call: x.shape, x.dtype
            self.watch.called(name, getattr(function, "__module__", None) or "")
        if any(tensor_class not in TORCHS_OWN and OWN_FUNCTION in own_parts(tensor_class) for tensor_class in types):
            self.watch.called(OWN_FUNCTION)
        return function(*args, **(kwargs or {}))


def own_parts(tensor_class: type) -> set[str]:
    """The names of the attributes that a class defines, or inherits from a class that does not belong to torch."""
    return {name for base in tensor_class.__mro__ if base not in TORCHS_OWN for name in vars(base)}


def is_composite(name: str, module: str) -> bool:
    """Whether torch computes a function by other operations, which are all that the dispatcher sees of it.

    name: of the function. module: the name of the Python module that holds it. Functions that are only another
    spelling of one operation (operations.SPELLINGS) do not count.
    """
    if plain(name) in SPELLINGS:
        return False
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{name.removesuffix('_')}")
    return module in WRITTEN_IN_PYTHON or any(map(_is_decomposed, schemas))


def _is_decomposed(schema: torch.FunctionSchema) -> bool:
    try:
        name = f"{schema.name}.{schema.overload_name}".rstrip(".")
        return torch._C._dispatch_has_kernel_for_dispatch_key(name, "CompositeImplicitAutograd")
    except RuntimeError:  # the dispatcher does not know it
        return False
