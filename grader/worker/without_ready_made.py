"""Takes torch's ready-made functions out of a fork server, and leaves what a formula is made of.

`take_out` runs before the first fork. In the dispatcher it covers the kernels of every operation that the rule does
not allow by kernels that raise, under each dispatch key. Nothing in Python refers to the libraries that hold these, so
they cannot be removed: a kernel that is registered later lies on top, and takes nothing away. Functions that torch
writes in Python raise too, unless they only pass calls on; their code is gone. Of numpy only constants are left.

`seal` runs in each worker before a learner's code. From then on the process opens no file, imports nothing that was not
imported before, has no ctypes, and lists no objects of the interpreter. Python offers no way to remove an audit hook.

What a source can still do here is its own work. How it spells a name makes no difference, since nothing bears the name.
"""

import contextlib
import ctypes
import gc
import inspect
import math
import os
import re
import sys
import types
from typing import Any

import torch

from .lockdown import kernel
from .operations import SPELLINGS, allowed, plain

TORCH = os.path.dirname(torch.__file__) + os.sep
# Files of torch that only pass a call on to the dispatcher. Any other file that computes holds ready-made functions.
AUTOGRAD = ("__init__", "function", "grad_mode", "graph")  # not functional.py, which computes products
WRAPPERS = (
    "_tensor.py", "functional.py", "overrides.py", "_ops.py", "_VF.py", "_jit_internal.py", "random.py",
    *(f"autograd{os.sep}{name}.py" for name in AUTOGRAD),
    "nn" + os.sep, "_functorch" + os.sep, "jit" + os.sep, "utils" + os.sep,
)  # fmt: skip
PRINTING = ("_tensor_str.py", "testing" + os.sep)  # prints and assertions, whose numbers do not reach the caller
ATTENTION = ("nn" + os.sep + "attention" + os.sep,)
WRITTEN_IN_PYTHON = {"torch.functional", "torch.nn.functional"}
NAMESPACES = ("linalg_", "special_", "fft_", "sparse_", "_")  # torch.linalg.vecdot has the name linalg_vecdot
# Parts of torch's Python code that compute nothing, beside wrappers.
INFRASTRUCTURE = (
    "__init__.py", "_C", "_classes.py", "_compile.py", "_environment.py", "_export/utils.py", "_guards.py", "_logging",
    "_namedtensor", "_opaque_base.py", "_sources.py", "_tensor_iterator.py", "_utils.py", "_utils_internal.py",
    "_vmap_internals.py", "accelerator", "amp", "autograd/forward_ad.py", "backends", "compiler", "cpu", "cuda", "func",
    "futures", "mps", "mtia", "return_types.py", "serialization.py", "storage.py", "torch_version.py", "types.py",
    "xpu",
)  # fmt: skip
# Operations that compute nothing from a tensor: random numbers, and those by which torch keeps account.
RANDOM = {"uniform", "normal", "random", "bernoulli", "rand", "randn", "randint", "randperm", "rand_like", "randn_like"}
ACCOUNTS = {"is_same_size", "is_set_to", "record_stream", "retain_grad", "_fw_primal", "_has_same_storage_numel"}
# Parts of torch's C module that compute past the dispatcher.
COMPILERS = ("_te", "StaticModule", "_aoti", "_fuse_to_static_module", "_jit_to_static_module")
KEY = re.compile(r"^([A-Z]\w+)(?:\[alias\])?: (?:registered|fallthrough)", re.MULTILINE)  # in the dispatcher's tables
NO_NUMBERS = ("bool", "int", "str", "Device", "ScalarType", "Layout", "()")  # types of results
PLAIN_FLAGS = 0x1F  # of code that is no generator: inspect.CO_OPTIMIZED, NEWLOCALS, VARARGS, VARKEYWORDS, NESTED


class ReadyMade(RuntimeError):
    """A ready-made function was called."""


def take_out(names: list[str], groups: list[str]) -> None:
    """Take out every function and operation of torch but those of `groups`, and those with one of `names`."""
    kept = allowed(groups) | SPELLINGS | RANDOM | ACCOUNTS
    forbidden = frozenset(names)
    for first_use in (torch.vmap(torch.neg), repr):  # the first imports more modules and registers more kernels
        first_use(torch.ones(1, 1))
    gc.unfreeze()
    _cover_kernels(kept, forbidden)
    _empty_functions(kept, forbidden)
    for name in COMPILERS:
        vars(torch._C).pop(name, None)
    vars(math).pop("sumprod", None)
    sys.modules["numpy"] = _constants()
    # What torch.func asks of torch's compiler, which takes longer to import than all the rest.
    compiled_autograd = types.SimpleNamespace(_disable=contextlib.nullcontext)
    vars(torch)["_dynamo"] = types.SimpleNamespace(compiled_autograd=compiled_autograd)
    gc.collect()
    gc.freeze()


def seal() -> None:
    """From now on, refuse whatever reaches beyond Python, in this process and for good."""
    for module in (ctypes, sys.modules["_ctypes"], kernel):
        vars(module).clear()
    for name in ("ctypes", "_ctypes", "_imp", "gc"):
        sys.modules.pop(name, None)

    def guard(event, arguments):
        # All of it is constants: code in this process can change what a name stands for, but no code object.
        if event not in {
            "array.__new__", "builtins.id", "code.__new__", "compile", "exec", "function.__new__", "object.__delattr__",
            "object.__getattr__", "object.__setattr__", "sys._getframe", "sys._getframemodulename", "time.sleep",
        }:  # fmt: skip
            raise (ImportError if event == "import" else PermissionError)(f"not allowed here: {event} {arguments[:1]}")

    sys.addaudithook(guard)


def _cover_kernels(kept: frozenset[str], forbidden: frozenset[str]) -> None:
    """Cover each kernel of all other operations by one that raises."""
    libraries: dict[str, Any] = {}
    covers: dict[str, object] = {}
    for name in torch._C._dispatch_get_all_op_names():
        namespace, _, rest = name.partition("::")
        base = plain(rest.partition(".")[0])
        if namespace == "aten" and not _is_forbidden(base, forbidden) and (base in kept or _gives_no_number(name)):
            continue
        if namespace not in libraries:
            libraries[namespace] = torch._C._dispatch_library("IMPL", namespace, "", __file__, 0)
        cover = covers.setdefault(base, _raising(base))
        for key in KEY.findall(torch._C._dispatch_dump(name)):
            libraries[namespace].impl(name, key, cover)
    for library in libraries.values():
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))  # it outlives its last name, and no name leads to it


def _constants() -> types.ModuleType:
    """What honest files take from numpy for a formula in torch: numbers, and functions of one number."""
    module = types.ModuleType("numpy")
    names = ("inf", "nan", "pi", "e", "sqrt", "exp", "log", "floor", "ceil")
    vars(module).update(
        {name: getattr(math, name) for name in names},
        newaxis=None,
        arange=torch.arange,
        ndarray=type("ndarray", (), {}),
    )
    return module


def _is_forbidden(base: str, forbidden: frozenset[str]) -> bool:
    return not forbidden.isdisjoint({base, *(base.removeprefix(namespace) for namespace in NAMESPACES)})


def _gives_no_number(name: str) -> bool:
    """Whether an operation gives only sizes, types or yes and no."""
    operation, _, overload = name.partition(".")
    returns = torch._C._get_schema(operation, overload).returns
    return all(str(result.type) in NO_NUMBERS for result in returns) and bool(returns)


def _raising(name: str):
    def refused(*args, **kwargs):
        raise ReadyMade(name)

    return refused


def _empty_functions(kept: frozenset[str], forbidden: frozenset[str]) -> None:
    """Let every function raise that torch writes in Python and that is forbidden or does more than pass a call on."""
    raising = compile("raise None", "", "exec")  # all its constants are replaced by the exception
    passing = (*WRAPPERS, *PRINTING, *INFRASTRUCTURE)
    for function in gc.get_objects():
        if type(function) is not types.FunctionType or not function.__code__.co_filename.startswith(TORCH):
            continue
        file, code = function.__code__.co_filename[len(TORCH) :], function.__code__
        if file == "_compile.py" and code.co_name == "inner":  # else it imports torch's compiler, to switch that off
            wrapped = inspect.getclosurevars(function).nonlocals["fn"]
            wrapped.__dynamo_disable = wrapped
        is_passing = file.startswith(passing) and not file.startswith(ATTENTION)
        is_passing = is_passing and code.co_name.removeprefix("_engine_run_") not in forbidden
        is_formula = function.__module__ in WRITTEN_IN_PYTHON and not code.co_name.startswith("_")
        if is_passing and not (is_formula and plain(code.co_name) not in kept):
            continue
        function.__code__ = code.replace(  # type: ignore[call-arg]  # Python 3.11 has the table of exceptions
            co_code=raising.co_code, co_consts=(ReadyMade,) * len(raising.co_consts), co_names=(),
            co_flags=code.co_flags & PLAIN_FLAGS, co_exceptiontable=b"", co_stacksize=raising.co_stacksize,
        )  # fmt: skip
