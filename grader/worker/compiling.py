"""Compiles Triton kernels for a GPU that is not there: what its compiler refuses is found without one.

In a worker of this kind a launch does not run. Its kernel goes through Triton's compiler up to Triton's own language,
where all mistakes of language are found: no program is run, and no file is written.
"""

import dataclasses
import functools
import os
import re
import types
from typing import Any

from . import kernels

NEED = "compiler"  # beside kernels.PACKAGE, in the needs of such a worker
ARCHITECTURE, THREADS = 90, 32  # of the GPU that is compiled for, and of a part of it that runs in step
TF32 = re.compile(r"inputPrecision = tf32\b")
REFUSED, SHORTENED = "the compiler refuses it", "a product of float32 is shortened to TF32"


class Refused(Exception):
    """A kernel does not compile, or not to what it should be. The text begins with its line in the file."""


def begin() -> None:
    """In the fork server: import Triton's compiler, and compile a kernel."""
    os.environ.update(kernels.SETTINGS)
    from triton.backends.compiler import GPUTarget
    from triton.runtime import driver
    from triton.runtime.jit import JITFunction

    target = GPUTarget("cuda", ARCHITECTURE, THREADS)
    gpu = types.SimpleNamespace(get_current_target=lambda: target)  # what Triton asks before it launches
    gpu.get_current_device, gpu.get_current_stream = lambda: 0, lambda device: 0
    driver.set_active(gpu)
    JITFunction._do_compile = functools.partialmethod(_compile_only, target)
    kernels.launch_a_kernel()


def _compile_only(self, target, key, signature, device, constexprs, options, attrs, warmup):
    """What stands in for JITFunction._do_compile. It gives no kernel, so nothing is launched."""
    from triton._C.libtriton import ir
    from triton.compiler import ASTSource, make_backend

    first_line = self.starting_line_number + len(self.raw_src) - len(self.src.splitlines())  # below decorators
    options = dataclasses.replace(options, ptx_version=87)  # otherwise a program is asked for it
    backend, stages = make_backend(target), dict[str, Any]()
    source = ASTSource(self, signature, constexprs, attrs)
    backend.add_stages(stages, options, source.language)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    functions = backend.get_codegen_implementation(options), backend.get_module_map()
    try:
        module = source.make_ir(target, options, *functions, context)
        module = stages["ttir"](module, {"target": target, **vars(options)})
    except Exception as error:
        raise Refused(f"{first_line + _offset(error)} {REFUSED}: {_reason(error)}") from None
    if TF32.search(str(module)):
        raise Refused(f"{first_line} {SHORTENED}")


def _offset(error: BaseException) -> int:
    """How many lines below the kernel's first one the compiler stopped."""
    nodes = [getattr(cause, "node", None) for cause in kernels.causes(error)]
    return next((node.lineno - 1 for node in reversed(nodes) if hasattr(node, "lineno")), 0)


def _reason(error: BaseException) -> str:
    lines = [line.strip() for line in str(getattr(error, "error_message", None) or error).splitlines() if line.strip()]
    return lines[-1][:300] if lines else type(error).__name__
