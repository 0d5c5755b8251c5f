"""What the nursery does once, so that no worker needs to: imports, first uses, one thread."""

import contextlib
import gc
import importlib
import linecache
import os
import sys
import tempfile

import torch

from . import wire
from .executor import Executor
from .trees import Encoder

# Where no file can be opened, what is not imported before is never imported. These are what
# learners' files import, and what torch imports late by itself.
PRELOADED = [
    "math", "cmath", "collections", "collections.abc", "functools", "itertools", "dataclasses", "typing",
    "types", "random", "enum", "abc", "contextlib", "warnings", "copy", "operator", "time", "datetime",
    "string", "re", "json", "os", "sys", "statistics", "fractions", "decimal", "numbers", "bisect", "heapq",
    "textwrap", "pprint", "inspect", "traceback", "logging", "unittest", "timeit", "array", "struct", "secrets",
    "hashlib", "base64", "io", "pathlib", "csv", "numpy", "numpy.random", "numpy.linalg", "numpy.fft",
    "numpy.testing", "typing_extensions", "numpy.lib.stride_tricks", "torch.nn.functional", "torch.nn.init",
    "torch.nn.utils", "torch.nn.attention", "torch.optim.lr_scheduler", "torch.utils.data", "torch.func",
    "torch.linalg", "torch.fft", "torch.special", "torch.distributions", "torch.autograd.gradcheck",
    "torch.testing", "torch.nn.utils.rnn", "torch.nn.utils.parametrize", "torch._dynamo",
    "torch.fx.experimental.symbolic_shapes", "encodings.idna", "encodings.ascii", "encodings.latin_1",
    "unicodedata", "locale", "zoneinfo",
]  # fmt: skip

# Something like what learners write.
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


def warm() -> None:
    """One thread, and what torch does lazily done once, before any fork.

    A parallel operation before a fork hangs every child (libgomp). The half operation makes torch
    read /proc/cpuinfo, without which a sandboxed child would compute with other rounding.
    """
    tempfile.tempdir = "/tmp"  # else parts of torch look for a place where they may write, and find none
    torch.set_num_threads(1)
    torch.backends.cpu.get_cpu_capability()
    warmth = torch.ones(2, 2, requires_grad=True)
    (torch.softmax(warmth @ warmth, dim=-1).half().float().sum()).backward()
    rehearse()
    gc.collect()
    gc.freeze()


def rehearse() -> None:
    """Do once what every worker does: what is imported, compiled and cached now is there in each fork."""
    executor, tensors = Executor(), Encoder(strides=True)
    x = tensors.node(torch.ones(2, 3, 4))
    requests = [{"op": "load", "source": SOURCE, "filename": "warmth.py", "name": "warmth"}]
    requests += [_call([name], [x], want) for name in ("f", "g") for want in ("output", "inputs", "gradients")]
    requests += [_call(["f"], [x], device="meta"), _call(["f"], [x], banned=["bmm"])]
    for device in ("cpu", "meta"):
        requests += [{"op": "forget"}, _call(["M"], [4]), {"op": "describe", "object": 0, "values": True}]
        requests += [{"op": "convert", "object": 0, "device": device, "dtype": None, "training": False}]
        requests += [_call([0, "__call__"], [x], device=device)]
    requests += [{"op": "forget"}, _call(["M"], [4]), _call([0, "__call__"], [x], "gradients"), {"op": "forget"}]
    for _ in range(3):  # the interpreter adapts its bytecode after some runs
        for request in requests:
            message, raw = wire.decode(wire.encode(request, tensors.tensors))
            reply, found = executor.handle(message, raw)
            if "error" in reply:
                raise RuntimeError(f"the rehearsal failed: {reply['error']}")
            wire.encode(reply, found)
    for name in ("warmth", "warmth.py"):
        sys.modules.pop(name, None)
        linecache.cache.pop(name, None)


def _call(target: list, args: list, want: str = "output", device: str = "cpu", banned=()) -> dict:
    known = {"op": "call", "target": target, "args": ["list", args], "kwargs": ["dict", []], "seed": 1}
    return known | {"cotangent_seed": 1, "device": device, "want": want, "banned": list(banned)}


def preload() -> None:
    """Import what a worker that can open no file may ask for."""
    for name in PRELOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def threads() -> int:
    """How many threads this process runs; 1 where the system does not tell."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 1
