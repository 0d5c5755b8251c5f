"""What the nursery does once, so that no worker needs to: imports, first uses, one thread."""

import contextlib
import gc
import importlib
import os
import tempfile

import torch

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
    torch.nn.Linear(2, 2)
    gc.collect()
    gc.freeze()


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
