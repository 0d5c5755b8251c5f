"""Files and notebooks as people have them: what fails at top level is named and left out, and the rest is graded."""

import functools
import json
import re
import sys

import pytest
from sources import solution

from grader.integrations.notebook import collect
from grader.judge.messages import NEWER
from grader.records import forbidden, our_cells, submission

EXERCISE = "03_context_vectors"
WEIGHTS = "def attention_weights(inputs):\n    return torch.softmax(inputs @ inputs.T, dim=-1)\n"
VECTOR = "def context_vector(inputs, query_index):\n    return attention_weights(inputs)[query_index] @ inputs\n"
VECTORS = "def context_vectors(inputs):\n    return attention_weights(inputs) @ inputs\n"
RIGHT = f"import torch\n\n\n{WEIGHTS}\n\n{VECTOR}\n\n{VECTORS}"


@pytest.fixture
def grade(graded):
    return functools.partial(graded, EXERCISE)


def notebook(*cells: str) -> submission.Submission:
    data = json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells]}).encode()
    return submission.decode(data, "mine.ipynb", notebook=True)


# A file. Whole situations are in golden.toml.


def test_a_line_that_fails_is_told_once_and_no_more_than_a_few_are(grade):
    notes = grade(RIGHT + "x.y\n" * 9).notes
    assert len(notes) == 6 and notes[-1] == "… and 4 more"
    assert len(grade(RIGHT + "plt.show(); plt.close()\n").notes) == 1
    message = grade(RIGHT.replace("inputs @ inputs.T", "torch.stack([x.no for x in inputs])", 1)).checks[0].message
    assert message.count("in attention_weights") == 1


# The machinery of Python and torch, of which a few functions are harmless.


HARMLESS = (
    "from importlib.metadata import version\nversion('torch')", "import importlib.metadata",
    "import importlib.metadata as m\nm.version('torch')", "import gc\ndel x\ngc.collect()",
    "from gc import collect\ncollect()", "import inspect\nfused = 'fused' in inspect.signature(f).parameters",
    "import triton\nDEVICE = triton.runtime.driver.active.get_active_torch_device()",
    "import torch\nself = torch.nn.Linear(1, 1)\nself.weight",
    "import gc, inspect\ngc.collect()\ninspect.signature(len)",
    "import torch\ntorch.backends.cuda.matmul.allow_tf32 = False",
    "import sys, os.path, typing\nsys.argv, os.path.sep, typing.Any",
    "class A:\n    def __init__(self):\n        self._refs = {}\n    def f(self):\n        self._refs[0] += 1",
)  # fmt: skip
SUSPECT = {  # and what the note names
    "import importlib.metadata as m\nm.EntryPoint('a', 'gc:collect', 'b').load()": "",
    "from importlib.metadata import sys\nsys.modules": "", "from importlib.metadata import EntryPoint": "",
    "import importlib\nimportlib.import_module('gc')": "", "from gc import *": "", "import gc\ngc.collect = print": "",
    "import gc\ngc.collect.__self__.get_objects()": "", "import inspect\ninspect.stack()": "",
    "import gc\nlocals()['gc']": "", "import gc\nvars()['gc']": "", "import inspect\ninspect.signature.__globals__": "",
    "import triton\ntriton.runtime.driver.active.utils": "", f"{HARMLESS[-1]}\nimport torch\ntorch._refs.exp": "",
    f"{HARMLESS[-1]}\n        self._refs.f.__globals__": "",
    "import torch as u\nu._C.x": "torch._C", "from torch import _C": "torch._C", "import gc\ngc.get_objects()": "gc",
    "import typing\ntyping.sys.modules": "typing.sys.modules",
    "from collections import _sys as s\ns.modules": "collections._sys.modules",
    "import torch\ntorch.Tensor.detach = len": "torch.Tensor.detach",
    "def f(x): pass\nf.__signature__ = 1": "__signature__",
    "class A:\n    def __torch_function__(self): pass": "__torch_function__",
}  # fmt: skip


def test_the_machinery_is_suspect_and_what_changes_nothing_is_not():
    for source in HARMLESS:
        assert forbidden.machinery_uses(source) == [] and forbidden.note(source) == "", source
    for source, name in SUSPECT.items():
        assert forbidden.note(source), source
        assert not name or name in {reached for _, reached in forbidden.machinery_uses(source)}, source
    looped = "def f(self, name):\n    return getattr(self, 'W_' + name)"  # honest code does it: a note, and no refusal
    assert forbidden.note(looped) and forbidden.machinery_uses(looped) == []


# A notebook.


def test_a_cell_that_is_not_python_costs_itself_alone(grade):
    handed_in = notebook("import torch", WEIGHTS, "def broken(:\n    pass", VECTOR, "plt.plot()", VECTORS)
    result = grade(handed_in)
    assert result.status == "passed"
    assert result.notes == (
        "cell 3, line 1 is not Python: the cell was left out: SyntaxError, invalid syntax",
        "cell 5, line 1 failed and was left out: NameError, name 'plt' is not defined",
    )
    result = grade(notebook("import torch", f"{WEIGHTS}{VECTOR}{VECTORS}\n  x = (\n"))
    assert result.status == "error" and result.message.startswith("cell 2, line 8 is not Python")


def test_cells_are_python_as_jupyter_reads_it(grade):
    indented = "\n".join(f"    {line}" for line in WEIGHTS.splitlines())
    magics = "files = !ls\n!pip install a \\\n    b\npip install torch\n%time x = torch.ones(3)\nassert len(x) == 3"
    magics += "\nif x is None:\n    !ls"
    late = f"from __future__ import annotations\n{VECTOR}"
    handed_in = notebook("import torch", indented, magics, late, f"%%capture out\n{VECTORS}", "return 3")
    assert handed_in.notes == ("5 magic or shell lines were left out of mine.ipynb.",)
    result = grade(handed_in)
    assert result.status == "passed", result
    told = "cell 6, line 1 failed and was left out: SyntaxError, 'return' outside function"
    assert result.notes == (*handed_in.notes, told)


OUR_SETUP = our_cells.SETUP.format(repository="https://example.org/mine", folder="17_fused_attention")


def test_what_we_wrote_in_a_notebook_costs_nothing(judged):
    """The set-up imports what 17, 20, 21 and 29 forbid, and no submission has check() and the like."""
    ours = "figure()  # 17", solution("17"), "hint('17')\n\ncheck(\n); plot(big=True)", "%time\ncheck()"
    own = "def check():\n    print('mine')", "check()"
    handed_in = notebook(OUR_SETUP, *ours, *own)
    result = judged("17", handed_in)
    assert result.status == "passed" and result.notes == ("1 magic or shell line was left out of mine.ipynb.",)
    assert result.output == "mine\n"


def test_only_what_is_ours_is_left_out_of_a_notebook():
    def cells(*sources: str) -> list[str]:
        return re.split(r"# --- cell \d+ ---\n", notebook(*sources).source)[1:]

    def is_left_out(cell: str) -> bool:
        return cell.strip() == our_cells.STAND_INS

    told = cells(OUR_SETUP, "check()")
    assert is_left_out(told[0]) and told[0].count("\n") == OUR_SETUP.count("\n") + 1 and told[1] == "check()\n"
    changed = OUR_SETUP.replace("setup()", "import ctypes")
    older = our_cells.SETUP.format(repository='"; import ctypes; "', folder="17_fused_attention")
    assert cells(changed)[0] == f"{changed}\n" and is_left_out(cells(older)[0])
    assert is_left_out(cells(OUR_SETUP.replace("\n", "  \r\n") + "\n")[0])  # as an editor may leave it
    assert is_left_out(cells(f"{OUR_SETUP}\nx = 1")[0].replace("\nx = 1\n", ""))  # two cells that were merged


def test_a_notebook_of_ours_that_was_saved_as_python_is_read_as_the_notebook(judged):
    head = '# -*- coding: utf-8 -*-\n"""fused.ipynb\n"""\n\n'
    data = f"{head}# In[1]:\n{OUR_SETUP}\n\nfigure()\n\n{solution('17')}\ncheck()  # hint(): a hint\n".encode()
    handed_in = submission.decode(data, "fused.py", notebook=False)
    assert handed_in.source.count("\n") == data.count(b"\n") and "subprocess" not in handed_in.source
    result = judged("17", handed_in)
    assert result.status == "passed" and result.notes == ()
    other = f"{OUR_SETUP}; import ctypes\ncheck()\n"
    assert submission.decode(other.encode(), "fused.py", notebook=False).source == other


def test_a_definition_that_fails_leaves_the_one_before(grade):
    unfinished = "def attention_weights(inputs, device=cuda):\n    return 3"
    assert grade(notebook("import torch", VECTOR, VECTORS, WEIGHTS, unfinished)).status == "passed"


def of_a_kernel(*cells: str) -> submission.Submission:
    """The same cells as they are gathered from a running kernel."""
    wanted = ["attention_weights", "context_vector", "context_vectors"]
    return submission.Submission(collect.source(["", *cells], wanted), "your notebook")


@pytest.mark.parametrize("gathered", [of_a_kernel, notebook])
def test_what_a_kernel_ran_is_graded_as_the_file_is(grade, gathered):
    cells = ["import torch\nimport pandas", "display(x)", f"x = 3\n\n{WEIGHTS}", VECTOR, "def f(:", f"\n  \n{VECTORS}"]
    assert grade(gathered(*cells)).status == "passed"
    result = grade(gathered(*cells, WEIGHTS.replace("inputs.T", "inputs")))
    assert "cell 7, line 2 in attention_weights" in result.checks[0].message
    later = VECTOR.replace("(inputs, query_index)", "(inputs: NotThere, query_index)", 1)  # a future of another cell
    result = grade(gathered("from __future__ import annotations", "import torch", WEIGHTS, later, VECTORS))
    assert result.status == "passed" and result.notes == ()


# As any script does.

OURS = ("_NUM_THREADS", "GLIBC_TUNABLES", "readable", "import_paths", "seccomp", "landlock", "KATA")
LOOK = """
import os, sys
seen, frame = [repr(sys.argv), repr(sys.orig_argv), repr(dict(os.environ))], sys._getframe()
while frame is not None:
    seen.append(repr(frame.f_locals if frame.f_code.co_name == "<module>" else dict(frame.f_locals)))
    frame = frame.f_back
for text in seen:
    for start in range(0, len(text), 2000):
        print(text[start:start + 2000].replace("\\n", " "))
"""


def test_nothing_of_ours_is_in_arguments_environment_or_frames(grade):
    """By ordinary means: what a learner prints who looks for a setting."""
    result = grade(f"import torch\n{LOOK}\n{RIGHT}")
    assert result.status == "passed" and "submission.py" in result.output
    assert [word for word in OURS if word in result.output] == []


NEWER_FORMS = {
    "except* ValueError:": (3, 11), "def first[T](items):": (3, 12), "class Pair[T]:": (3, 12), "type X = int": (3, 12),
    "print(f'{d['a']}')": (3, 12), "except ValueError, TypeError:": (3, 14), "x = t'{a}'": (3, 14),
}  # fmt: skip


def test_a_file_for_a_newer_python_is_told_which_one_grades(grade):
    for line, version in NEWER_FORMS.items():
        assert [known for known, form in NEWER if form.match(line)] == [version], line
    assert not any(form.match(line) for _, form in NEWER for line in ("print(f'{x}', 'a')", "x = d['a'", "def f(x:"))
    assert "Python {}.{} grades your file".format(*sys.version_info) in grade("def f(:\n").message
    needed = min((version for version in NEWER_FORMS.values() if version > sys.version_info[:2]), default=None)
    for line in [line for line, version in NEWER_FORMS.items() if version == needed]:
        around = f"try:\n    pass\n{line}\n    pass\n" if line.startswith("except") else f"{line}\n    pass\n"
        assert f"valid from Python {needed[0]}.{needed[1]} on" in grade(around + RIGHT).message, line
