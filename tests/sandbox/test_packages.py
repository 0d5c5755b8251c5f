"""What a worker may read of the installed packages: what torch, numpy and einops need, and nothing beside it."""

import os
import re
from importlib import metadata

from grader.sandbox import mounts

OF_OTHERS = re.compile(r"nvidia-|cuda-|triton")  # parts of a torch for CUDA, which lie in one folder each


def test_it_holds_what_torch_imports_and_nothing_else():
    found = mounts.closure()
    assert {"torch", "numpy", "einops", "sympy", "mpmath", "jinja2", "markupsafe", "typing_extensions.py"} <= set(found)
    assert not {"pytest", "_pytest", "rich", "grader", "packaging", "pip"} & set(found)
    assert all(os.path.exists(place) for place in found.values())


def test_no_requirement_of_torch_is_left_out():
    lines = [line for name in ("torch", "numpy", "einops") for line in metadata.requires(name) or ()]
    names = {re.match(r"[\w.-]+", line)[0].replace("-", "_") for line in lines if "extra ==" not in line}
    assert {name for name in names if not OF_OTHERS.match(name)} <= set(mounts.PACKAGES)
