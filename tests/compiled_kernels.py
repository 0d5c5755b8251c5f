"""Do the kernels of a file compile for a GPU? It needs no GPU, runs no program and writes no file.

    python tests/compiled_kernels.py solutions/32_triton_kernels/triton_kernels.py …

Each call is made under a stand-in driver, and each launch goes through Triton's compiler up to its own language, where
all mistakes of language are found. A line for each file: its name, and what the compiler said of it, or "compiles".
"""

import dataclasses
import importlib.util
import os
import sys
from pathlib import Path

os.environ.pop("TRITON_INTERPRET", None)
os.environ |= {"TRITON_DEFAULT_FP_FUSION": "1", "TRITON_BACKENDS_IN_TREE": "1"}

import torch
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend
from triton.runtime import driver
from triton.runtime.jit import JITFunction

TARGET = GPUTarget("cuda", 90, 32)
TF32 = "inputPrecision = tf32"
launched: list[tuple[str, str]] = []  # each kernel, and its text in Triton's own language


class Driver:
    """What Triton asks of a GPU before it launches."""

    def get_current_target(self):
        return TARGET

    def get_current_device(self):
        return 0

    def get_current_stream(self, device):
        return 0


def compile_only(self, key, signature, device, constexprs, options, attrs, warmup):
    """In the place of JITFunction._do_compile. It returns nothing, so nothing is launched."""
    options = dataclasses.replace(options, ptx_version=87)  # otherwise a program is asked for it
    backend, stages = make_backend(TARGET), {}
    source = ASTSource(self, signature, constexprs, attrs)
    backend.add_stages(stages, options, source.language)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    functions = backend.get_codegen_implementation(options), backend.get_module_map()
    module = source.make_ir(TARGET, options, *functions, context)
    module = stages["ttir"](module, {"target": TARGET, **vars(options)})
    launched.append((self.__name__, str(module)))


def said_of(path: Path) -> str:
    """What the compiler says of the three kernels of a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x = torch.randn(1, 2, 50, 16)
    calls = [(module.softmax, (torch.randn(5, 37),)), (module.matmul, (torch.randn(37, 50), torch.randn(50, 41)))]
    calls += [(module.flash_attention, (y, y, y, causal)) for y in (x, x.half()) for causal in (False, True)]
    for function, arguments in calls:
        launched.clear()
        try:
            function(*arguments)
        except Exception as error:
            return f"{function.__name__}: {type(error).__name__}: {' '.join(str(error).split())[-200:]}"
        if not launched:
            return f"{function.__name__}: nothing was launched"
        if arguments[0].dtype == torch.float32 and any(TF32 in text for _, text in launched):
            return f"{function.__name__}: a product of float32 is shortened to TF32"
    return "compiles"


if __name__ == "__main__":
    driver.set_active(Driver())
    JITFunction._do_compile = compile_only
    for argument in sys.argv[1:]:
        print(f"{Path(argument).stem}: {said_of(Path(argument))}")
