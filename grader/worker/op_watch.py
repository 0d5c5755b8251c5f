"""Watches one call of a function that must be the learner's own formula: a guard rail inside torch.

It sees two things: what operations torch's dispatcher runs, whatever name they were called by, and which functions
of torch are called by name, since some are taken apart into plain arithmetic before the dispatcher sees them.
Nothing is raised, so that nothing can be swallowed: hits are counted, and the grader judges the count.
"""

import os
import sys

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode

from .fake_device import FakeDevice, Placed
from .operations import COMPUTING, READING, SPELLINGS, allowed, plain

MAX_HITS = 20
# A class or a mode of the learner's own computes where no watch is.
OWN_DISPATCH, OWN_FUNCTION = "__torch_dispatch__", "__torch_function__"
TORCHS_OWN = (*torch.Tensor.__mro__, torch.nn.Parameter, Placed)
TORCH = os.path.dirname(torch.__file__) + os.sep
AUTOGRAD = ("__init__", "function", "grad_mode", "graph")  # functional.py computes products by itself
# Files of torch that hand a call on to the dispatcher; any other that computes is a ready-made function.
WRAPPERS = (
    "_tensor.py", "functional.py", "overrides.py", "_ops.py", "_VF.py", "_jit_internal.py", "random.py",
    *(f"autograd{os.sep}{name}.py" for name in AUTOGRAD),
    "nn" + os.sep, "_functorch" + os.sep, "jit" + os.sep, "utils" + os.sep,
)  # fmt: skip
LOOKING = ("_tensor_str.py", "testing" + os.sep)  # prints and assertions: nothing comes back from there
WRITTEN_IN_PYTHON = {"torch.functional", "torch.nn.functional"}
HOMES = ("linalg_", "special_", "fft_", "sparse_", "_")  # torch.linalg.vecdot is called linalg_vecdot
ASKED = (bool, int, torch.dtype)  # allclose, promote_types: a question, whose answer holds no numbers
ATTENTION = ("nn" + os.sep + "attention" + os.sep,)


class OpWatch(TorchDispatchMode):
    """Notes each operation outside `groups` and each call of a name in `names`, with the learner's line.

    computed: whether anything was computed at all, or a number read to compute with in Python.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else torch imports torch._dynamo at the first call: most of a second

    def __init__(self, names: list[str], groups: list[str], filename: str):
        super().__init__()
        self.names, self.allowed, self.filename = frozenset(names), allowed(groups), filename
        self.plain = self.allowed - COMPUTING  # of these nothing more must be known: they are half of all
        self.forbidden: dict[tuple[str, str], bool] = {}  # what was called, by name and module
        self.hits, self.computed, self.calls = [], False, Calls(self)

    def __enter__(self):
        around = _get_current_dispatch_mode()
        if around is not None and type(around) is not FakeDevice:
            self.hit(OWN_DISPATCH, 0)
        self.calls.__enter__()
        return super().__enter__()

    def __exit__(self, *exception):
        super().__exit__(*exception)
        self.calls.__exit__(*exception)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name, own = plain(function._schema.name), False
        for kind in types:
            own |= kind not in TORCHS_OWN
        if name in self.plain and not own:
            return function(*args, **(kwargs or {}))
        files, line = self._way()
        result = function(*args, **(kwargs or {}))
        if not files and not own and name in self.allowed and type(result) not in ASKED:  # the learner's own step
            self.computed = True
            return result
        if not any(file.startswith(LOOKING) for file, _ in files) and type(result) not in ASKED:
            self.computed |= name in COMPUTING
            made = [made for file, made in files if not file.startswith(WRAPPERS) or file.startswith(ATTENTION)]
            if name not in self.allowed:
                self.hit(name, line)
            elif made and name in COMPUTING:
                self.hit(made[-1], line)
            elif own:
                self.hit(OWN_DISPATCH, line)
        return result

    def called(self, name: str, module: str = "") -> None:
        """A function of torch's is called by this name; module: where Python finds it."""
        self.computed |= name in READING
        if (name, module) not in self.forbidden:
            self.forbidden[name, module] = self._is_forbidden(name, module)
        if self.forbidden[name, module]:
            self.hit(name, self._way()[1])

    def _is_forbidden(self, name: str, module: str) -> bool:
        known = {name, *(name.removeprefix(home) for home in HOMES)}
        if name == OWN_FUNCTION or not self.names.isdisjoint(known):
            return True
        operations = set(map(plain, known))
        return bool(self.allowed) and operations.isdisjoint(self.allowed) and is_put_together(name, module)

    def hit(self, name: str, line: int) -> None:
        if len(self.hits) < MAX_HITS:
            self.hits.append([name, line])

    def _way(self) -> tuple[list[tuple[str, str]], int]:
        """The functions of torch between an operation and the learner's code, and the learner's line."""
        frame, files = sys._getframe(2), []
        while frame is not None and frame.f_code.co_filename != self.filename:
            code = frame.f_code
            if code.co_filename.startswith(TORCH):
                files.append((code.co_filename[len(TORCH) :], code.co_name))
            frame = frame.f_back
        return files, frame.f_lineno if frame is not None else 0


class Calls(TorchFunctionMode):
    """Tells a Ban the names of the functions of torch that are called. Alone it costs next to nothing."""

    def __init__(self, ban: OpWatch):
        super().__init__()
        self.ban = ban

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        if name != "__get__":  # the most frequent by far: x.shape, x.dtype
            self.ban.called(name, getattr(function, "__module__", None) or "")
        if any(kind not in TORCHS_OWN and OWN_FUNCTION in own_parts(kind) for kind in types):
            self.ban.called(OWN_FUNCTION)
        return function(*args, **(kwargs or {}))


def own_parts(kind: type) -> set[str]:
    """What a class defines itself, or inherits from one that is none of torch's."""
    return {name for base in kind.__mro__ if base not in TORCHS_OWN for name in vars(base)}


def is_put_together(name: str, module: str) -> bool:
    """Whether torch itself puts a function of this name and module together of operations that it lets be seen."""
    if plain(name) in SPELLINGS:
        return False
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{name.removesuffix('_')}")
    return module in WRITTEN_IN_PYTHON or any(map(_is_taken_apart, schemas))


def _is_taken_apart(schema: torch.FunctionSchema) -> bool:
    try:
        name = f"{schema.name}.{schema.overload_name}".rstrip(".")
        return torch._C._dispatch_has_kernel_for_dispatch_key(name, "CompositeImplicitAutograd")  # torch's word for it
    except RuntimeError:  # the dispatcher does not know it
        return False
