"""Work that the fork server does once, so that no worker repeats it: imports, and the first use of functions.

It also decides which modules a worker can import. A package whose files the worker may not read looks as if it were not
installed, so that `try: import colorama` in torch does not fail with PermissionError.
"""

import contextlib
import gc
import importlib
import os
import sys
import tempfile
from importlib.machinery import PathFinder
from pathlib import Path

import torch

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
DRIVER = b"cuda"  # how the names of the threads begin that NVIDIA's driver starts


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
    if device != "cuda" and not torch.version.hip and not getattr(torch.version, "xpu", None):
        rounded.backward()
    gc.freeze()  # what imports leave behind is little, and to look for it takes a tenth of the start
    gc.enable()  # it is off while modules are imported


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
        names = [Path(f"/proc/self/task/{number}/comm").read_bytes() for number in os.listdir("/proc/self/task")]
    except OSError:
        return 1
    return len([name for name in names if device == "cuda" or not name.startswith(DRIVER)])
