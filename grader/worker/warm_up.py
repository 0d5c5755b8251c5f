"""Work that the fork server does once, so that no worker repeats it: imports, and the first use of functions.

It also decides which modules a worker can import. A package whose files the worker may not read looks as if it were not
installed, so that `try: import colorama` in torch does not fail with PermissionError.
"""

import contextlib
import gc
import importlib
import linecache
import os
import sys
import tempfile
from importlib.machinery import PathFinder

import torch

from . import protocol
from .codec import Encoder
from .executor import Executor

# A worker without ready-made functions can open no file, so it can import only what was imported before: what learners'
# files import, and what torch imports at first use, without numpy and torch's compiler.
PRELOADED = [
    "math", "cmath", "collections", "collections.abc", "functools", "itertools", "dataclasses", "typing",
    "types", "random", "enum", "abc", "contextlib", "warnings", "copy", "operator", "time", "datetime",
    "string", "re", "json", "os", "sys", "statistics", "fractions", "decimal", "numbers", "bisect", "heapq",
    "textwrap", "pprint", "inspect", "traceback", "logging", "unittest", "timeit", "array", "struct", "secrets",
    "hashlib", "base64", "io", "pathlib", "csv", "einops", "einops._torch_specific", "einops.layers.torch",
    "typing_extensions", "argparse", "torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.nn.attention",
    "torch.optim.lr_scheduler", "torch.utils.data", "torch.func", "torch.linalg", "torch.fft", "torch.special",
    "torch.distributions", "torch.autograd.gradcheck", "torch.testing", "torch.nn.utils.rnn",
    "torch.nn.utils.parametrize", "encodings.idna", "encodings.ascii", "encodings.latin_1", "unicodedata", "locale",
    "zoneinfo", "importlib.metadata",
]  # fmt: skip
DRIVER = "cuda"  # how the names of the threads begin that NVIDIA's driver starts
CALLS = (
    protocol.Call,
    protocol.CallWithInputs,
    protocol.CallForGradients,
    protocol.CallWithOperations,
    protocol.CallForGraph,
    protocol.CallForMemory,
)
GRADIENT_CALLS = (protocol.CallForGradients, protocol.CallForGraph)
# Code similar to what learners write.
SOURCE = """
import math
import torch
from torch import nn

def f(x):
    scores = x @ x.transpose(-2, -1) / x.shape[-1] ** 0.5
    mask = torch.triu(torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device), diagonal=1)
    weights = torch.softmax(scores.masked_fill(mask, -torch.inf), dim=-1)
    return weights @ x

def g(x):
    e = torch.exp(x - x.max(dim=-1, keepdim=True).values)
    return e / e.sum(dim=-1, keepdim=True)

class M(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.W_query = nn.Linear(d, d, bias=False)
        self.W_key = nn.Parameter(torch.rand(d, d))
        self.dropout = nn.Dropout(0.1)
        self.register_buffer("mask", torch.triu(torch.ones(4, 4), diagonal=1))

    def forward(self, x):
        query, key = self.W_query(x), x @ self.W_key
        return self.dropout(g(query @ key.transpose(1, 2))) @ x
"""


class ReadableFinder(PathFinder):
    """The usual finder of modules, without the packages whose files may not be opened."""

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        """The spec of a module, as PathFinder gives it; None where its file may not be read."""
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or path is not None or not spec.has_location:
            return spec
        try:
            os.close(os.open(str(spec.origin), os.O_RDONLY | os.O_CLOEXEC))
        except PermissionError:
            return None
        except OSError:
            pass  # the import itself raises the error that describes the problem
        return spec


def install_finder() -> None:
    """Use this finder from now on, in this process and its forks."""
    sys.meta_path = [ReadableFinder if finder is PathFinder else finder for finder in sys.meta_path]


def warm(device: str) -> None:
    """Limit torch to one thread, and trigger before any fork what it initializes at first use.

    A parallel operation before a fork makes every child hang (libgomp). The operation in half precision makes torch
    read /proc/cpuinfo; a sandboxed child cannot read it and would round differently.

    device: of the workers. On "cuda" no gradient is computed here: autograd counts the GPUs, which starts the driver,
    and no fork of a process that has started it can use a GPU. Nor is one where torch was built for AMD's or Intel's
    GPUs, whose drivers may start threads too. Untested there.
    """
    tempfile.tempdir = "/tmp"  # otherwise parts of torch search for a folder that they may write, and fail
    torch.set_num_threads(1)
    torch.backends.cpu.get_cpu_capability()
    ones = torch.ones(2, 2, requires_grad=True)
    rounded = torch.softmax(ones @ ones, dim=-1).half().float().sum()
    has_gradients = device != "cuda" and not torch.version.hip and not getattr(torch.version, "xpu", None)
    if has_gradients:
        rounded.backward()
    handle_requests(has_gradients)
    gc.collect()
    gc.freeze()
    gc.enable()  # it is off while modules are imported


def handle_requests(has_gradients: bool) -> None:
    """Handle typical requests, so that each fork inherits what is imported, compiled and cached for them.

    has_gradients: also those that ask for gradients.

    Raises RuntimeError where a request fails.
    """
    executor, tensors = Executor(), Encoder(strides=True)
    x = tensors.node(torch.ones(2, 3, 4))
    requests: list[protocol.Request] = [protocol.Load(SOURCE, "warm_up.py", "warm_up")]
    requests += [_call(name, x, kind) for name in ("f", "g") for kind in CALLS]
    requests += [_call("f", x, device="meta")]
    for device in ("cpu", "meta"):
        requests += [protocol.Forget(), _call("M", 4), protocol.Describe(0)]
        requests += [protocol.Convert(0, device=device, training=False), _call(0, x, device=device)]
    requests += [protocol.Forget(), _call("M", 4), _call(0, x, protocol.CallForGradients), protocol.Forget()]
    requests = [request for request in requests if has_gradients or not isinstance(request, GRADIENT_CALLS)]
    for _ in range(3):  # the interpreter adapts its bytecode after some runs
        for request in requests:
            decoded = protocol.decode_request(protocol.encode_request(request, tensors.tensors))
            reply, reply_tensors = executor.handle(*decoded)
            if reply.error:
                raise RuntimeError(f"the warm-up failed: {reply.error}")
            protocol.encode_reply(reply, reply_tensors)
    for name in ("warm_up", "warm_up.py"):
        sys.modules.pop(name, None)
        linecache.cache.pop(name, None)


def _call(target: str | int, argument, kind: type = protocol.Call, **options) -> protocol.Call:
    path = [target] if isinstance(target, str) else [target, "__call__"]
    return kind(path, ["list", [argument]], ["dict", []], 1, **options)


def preload() -> None:
    """Import what the code in a worker that can open no file may import."""
    for name in PRELOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def threads(device: str = "cpu") -> int:
    """The number of threads of this process that a fork would miss; 1 on a system without /proc.

    Where torch has CUDA, it asks NVIDIA's driver for GPUs, also for work on the CPU, and the driver keeps a thread that
    waits for nothing. Forks that compute on the CPU never call the driver again. On "cuda" this thread counts.
    """
    try:
        names = [_name(number) for number in os.listdir("/proc/self/task")]
    except OSError:
        return 1
    return len([name for name in names if device == "cuda" or not name.startswith(DRIVER)])


def _name(thread: str) -> str:
    with open(f"/proc/self/task/{thread}/comm", encoding="utf-8", errors="replace") as name:
        return name.read()
