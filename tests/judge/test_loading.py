"""Files and notebooks as people have them: what fails at top level is named and left out, and the rest is graded."""

import functools
import json
import re

import pytest
from sources import solution

from grader.catalog import paths
from grader.integrations.notebook import collect
from grader.records import forbidden, our_cells, submission, syntax
from grader.reports import terminal

EXERCISE = "03_context_vectors"
WEIGHTS = "def attention_weights(inputs):\n    return torch.softmax(inputs @ inputs.T, dim=-1)\n"
VECTOR = "def context_vector(inputs, query_index):\n    return attention_weights(inputs)[query_index] @ inputs\n"
VECTORS = "def context_vectors(inputs):\n    return attention_weights(inputs) @ inputs\n"
RIGHT = f"import torch\n\n\n{WEIGHTS}\n\n{VECTOR}\n\n{VECTORS}"
AFTER = len(RIGHT.splitlines())


@pytest.fixture
def grade(judged):
    return functools.partial(judged, EXERCISE, diagnose=False)


def notebook(*cells: str) -> submission.Submission:
    """A notebook with these code cells, as it is read from a file."""
    data = json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells]}).encode()
    return submission.decode(data, "mine.ipynb", notebook=True)


# A file.


def test_memory_in_a_worker_is_collected_as_in_any_process(grade):
    """The fork server imports torch without the garbage collector."""
    assert grade(f"{RIGHT}import gc\nprint('collected:', gc.isenabled())\n").output == "collected: True\n"


@pytest.mark.parametrize(
    "line, note",
    [
        ("import matplotlib.pyplot as plt", "failed and was left out: ModuleNotFoundError, matplotlib"),
        ("from google.colab import drive", "failed and was left out: ModuleNotFoundError, google"),
        ("name = input('who? ')", "failed and was left out: EOFError"),
        ("undefined(3)", "failed and was left out: NameError, name 'undefined' is not defined"),
        ("assert attention_weights is None, 'mine'", "failed and was left out: AssertionError, mine"),
        ("raise ValueError('n' * 101)", f"failed and was left out: ValueError, {'n' * 100}…"),
        ("import time; raise KeyboardInterrupt", "failed and was left out: KeyboardInterrupt"),
        ("open('the-verdict.txt')", "failed and was left out: "),
        ("while True: pass", "took longer than "),
        ("__import__('time').sleep(30)", "took longer than "),
        ("__import__('os')._exit(0)", "was left out: your code ended the whole process"),
    ],
)
def test_a_statement_that_fails_costs_nothing_and_is_named(grade, line, note):
    result = grade(f"{RIGHT}{line}\n", timeout=1.0)
    assert result.status == "passed", result.message
    assert any(told.startswith(f"line {AFTER + 1} {note}") for told in result.notes), result.notes


def test_a_line_that_fails_is_named_even_when_nothing_is_begun(grade):
    result = grade(f"import pandas as pd\n{paths.stub(EXERCISE).read_text('utf-8')}")
    assert not result.started
    assert terminal.plain(result).startswith("note: line 1 failed and was left out: ModuleNotFoundError, pandas\nnot")


def test_those_after_it_run_and_the_line_inside_a_statement_is_told(grade):
    source = f"import pandas as pd\nfor row in range(3):\n    table = 1\n    pd.DataFrame(table)\n{RIGHT}"
    result = grade(source)
    assert result.status == "passed"
    assert result.notes == (
        "line 1 failed and was left out: ModuleNotFoundError, pandas",
        "line 4 failed and was left out: NameError, name 'pd' is not defined",
    )


@pytest.mark.slow
def test_code_that_is_deaf_to_the_clock_is_found_and_the_rest_goes_on(grade):
    deaf = "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True:\n    pass\n"
    result = grade(f"print('once')\n{deaf}{RIGHT}", timeout=1.0)
    assert result.status == "passed", result.message
    assert result.output.count("once") == 1
    assert any(note.startswith("line 4 took longer than") for note in result.notes), result.notes


def test_who_ends_the_process_again_and_again_is_an_error(grade):
    result = grade(RIGHT + "import os\n" + "os._exit(1)\n" * 4)
    assert (result.status, result.points) == ("error", 0)
    assert "ended the whole process with exit code 1" in result.message


def test_a_definition_that_fails_is_the_reason_where_nothing_else_is_there(grade):
    result = grade("import torch\n\n@cached\ndef attention_weights(inputs):\n    return inputs\n")
    assert (result.status, result.points) == ("error", 0)
    assert result.message.startswith("NameError: name 'cached' is not defined\nsubmission.py:3")
    result = grade(f"import torch\n{WEIGHTS}{VECTOR}def context_vectors(inputs, device=cuda):\n    return inputs\n")
    assert result.status == "failed" and result.points > 2
    said = [check.message for check in result.checks if check.task == 3 and check.outcome == "failed"]
    assert said and all(text.startswith("NameError: name 'cuda' is not defined") for text in said)


@pytest.mark.parametrize("line", ["", "import pandas\n"])
def test_what_is_missing_for_another_reason_is_told_as_ever(grade, line):
    result = grade(f"{line}import torch\ndef attention_weigths(inputs):\n    return inputs\n")
    assert result.status == "failed" and "found attention_weigths. Rename it" in result.checks[0].message


@pytest.mark.parametrize("line", ["x = (1,", "return 3", "from __future__ import annotations"])
def test_a_file_that_python_refuses_is_an_error(grade, line):
    result = grade(f"{RIGHT}{line}\n")
    assert result.status == "error" and "SyntaxError" in result.message


@pytest.mark.parametrize("source", ["import sys", "x = 3", "raise SystemExit(0)", "raise RuntimeError('x')"])
def test_a_file_that_defines_nothing_needs_a_person(grade, source):
    result = grade(source)
    assert result.status == "error" and result.message


def test_futures_docstrings_and_texts_are_those_of_a_module(grade):
    head = '"""Mine."""\nfrom __future__ import annotations\nimport torch\n"""a text"""\nassert __doc__ == "Mine."\n'
    source = head + RIGHT.replace("(inputs)", "(inputs: NotThere) -> Nowhere")
    source = source.replace("return attention_weights(inputs: NotThere) -> Nowhere", "return attention_weights(inputs)")
    result = grade(source)
    assert result.status == "passed", result
    assert result.notes == ()


def test_what_ipython_gives_is_quiet_and_stays_the_learners_own(grade):
    quiet = "display(3, metadata={})\nget_ipython().run_line_magic('matplotlib', 'inline')\n"
    result = grade(f"{quiet}{RIGHT}def display(x):\n    print('mine', x)\ndisplay(1)\n")
    assert result.status == "passed"
    assert (result.notes, result.output) == ((), "mine 1\n")


def test_no_more_than_a_few_are_named(grade):
    result = grade(RIGHT + "x.y\n" * 9)
    assert len(result.notes) == 6 and result.notes[-1] == "… and 4 more"


def test_of_a_name_that_a_failed_import_should_bind_the_import_is_told(grade):
    turned = WEIGHTS.replace("return", "turned(inputs, 't d -> d t')\n    return")
    result = grade(f"import torch\nfrom rotations import turned\n{turned}{VECTOR}{VECTORS}")
    reason = "it comes from line 2, which failed on loading: there is no module 'rotations' here"
    lines = result.checks[0].message.splitlines()
    assert lines[0] == "NameError: name 'turned' is not defined"
    assert lines[1].startswith(reason) and lines[1].endswith(
        "put code of your other files into this one: it is graded alone"
    )


def test_einops_is_there_in_the_forms_that_model_code_uses(grade):
    lines = "import torch\nimport einops\nfrom einops import rearrange, reduce, repeat, pack, unpack, einsum\n"
    lines += "from einops.layers.torch import Rearrange\n"
    turned = WEIGHTS.replace("inputs @ inputs.T", "einsum(inputs, Rearrange('t d -> d t')(inputs), 'a d, d b -> a b')")
    vectors = VECTORS.replace("@ inputs", "@ rearrange(inputs, 't d -> t d')")
    result = grade(f"{lines}{turned}{VECTOR}{vectors}")
    assert (result.status, result.notes) == ("passed", ()), result


EINOPS = "import torch\nimport einops\nfrom einops import einsum as product\nfrom einops.layers.torch import EinMix\n"
MIX = "EinMix('i -> o', weight_shape='i o', i=len(a), o=1)"


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("return einops.einsum(a, b, 'i, i ->')", "failed"),
        ("return product(a, b, 'i, i ->')", "failed"),
        (f"mix = {MIX}.to(a.dtype); mix.weight.data = b[:, None]; return mix(a)[0]", "failed"),
        ("return einops.reduce(a * b, 'i ->', 'sum')", "passed"),  # a sum is as free as torch's
    ],
)
def test_what_einops_computes_counts_as_ready_made_where_torchs_does(judged, body, outcome):
    result = judged("01", f"{solution('01')}\n\n{EINOPS}def dot_product(a, b):\n    {body}\n")
    own = next(check for check in result.checks if check.id.startswith("own_"))
    assert own.outcome == outcome and "ready" in own.title, result


@pytest.mark.parametrize(
    ("line", "loop"),
    [
        ("from tqdm import tqdm", "for _ in tqdm(inputs, desc='rows', leave=False): pass"),
        ("from tqdm.auto import tqdm, trange", "for _ in trange(len(inputs)): tqdm.write('')"),
        ("from tqdm.notebook import tqdm as bar", "assert [len(r) for r in bar(inputs)] == [len(r) for r in inputs]"),
        ("import tqdm", "bar = tqdm.tqdm(total=len(bar := tqdm.tqdm(inputs))); bar.update(1); bar.set_postfix(a=1)"),
        ("import tqdm.auto", "with tqdm.auto.tqdm(total=3) as bar: bar.update()"),
    ],
)
def test_what_shows_progress_has_a_stand_in_without_effect(grade, line, loop):
    shown = WEIGHTS.replace("return", f"{loop}\n    return", 1)
    result = grade(f"import torch\n{line}\n{shown}{VECTOR}{VECTORS}")
    assert (result.status, result.notes) == ("passed", ()), result


def test_annotations_of_a_package_that_is_not_here_cost_nothing(grade):
    annotated = WEIGHTS.replace("(inputs)", "(inputs: Float[torch.Tensor, 'tokens dim'] | None)", 1)
    result = grade(f"import torch\nfrom jaxtyping import Float\n{annotated}{VECTOR}{VECTORS}")
    told = "line 2 failed and was left out: ModuleNotFoundError, jaxtyping"
    assert (result.status, result.notes) == ("passed", (told,)), result


def test_a_function_of_pythons_that_stands_for_a_variable_is_named(grade):
    result = grade(RIGHT.replace("inputs @ inputs.T", "torch.matmul(inputs, input)", 1))
    assert "\ninput is Python's own function here: " in result.checks[0].message
    result = grade(RIGHT.replace("inputs @ inputs.T", "torch.matmul(inputs, inputs.t)", 1))
    assert "Python's own" not in result.checks[0].message


def test_one_line_that_fails_twice_is_told_once(grade):
    result = grade(RIGHT + "plt.show(); plt.close()\n")
    assert len(result.notes) == 1
    message = grade(RIGHT.replace("inputs @ inputs.T", "torch.stack([x.no for x in inputs])", 1)).checks[0].message
    assert message.count("in attention_weights") == 1


# The machinery of Python and torch, of which a few functions are harmless.


@pytest.mark.parametrize(
    "source",
    [
        "from importlib.metadata import version\nversion('torch')", "import importlib.metadata",
        "import importlib.metadata as m\nm.version('torch')", "import gc\ndel x\ngc.collect()",
        "from gc import collect\ncollect()", "import inspect\nfused = 'fused' in inspect.signature(f).parameters",
        "import triton\nDEVICE = triton.runtime.driver.active.get_active_torch_device()",
    ],
)  # fmt: skip
def test_what_changes_nothing_is_no_suspect(source):
    assert forbidden.reaches(source) == [] and forbidden.notes(source) == ()


@pytest.mark.parametrize(
    "source",
    [
        "import importlib.metadata as m\nm.EntryPoint('a', 'gc:collect', 'b').load()",
        "from importlib.metadata import sys\nsys.modules", "from importlib.metadata import EntryPoint",
        "import importlib\nimportlib.import_module('gc')", "import gc\ngc.get_objects()", "from gc import *",
        "import gc\ngc.collect = print", "import gc\ngc.collect.__self__.get_objects()",
        "import inspect\ninspect.stack()",
        "import gc\nlocals()['gc']", "import gc\nvars()['gc']", "import inspect\ninspect.signature.__globals__",
        "import triton\ntriton.runtime.driver.active.utils",
    ],
)  # fmt: skip
def test_the_machinery_is_suspect(source):
    assert forbidden.notes(source)


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
    late = f"from __future__ import annotations\n{VECTOR}"
    handed_in = notebook("import torch", indented, magics, late, f"%%capture out\n{VECTORS}", "return 3")
    assert handed_in.notes == ("4 magic or shell lines were left out of mine.ipynb.",)
    result = grade(handed_in)
    assert result.status == "passed", result
    told = "cell 6, line 1 failed and was left out: SyntaxError, 'return' outside function"
    assert result.notes == (*handed_in.notes, told)


OUR_SETUP = our_cells.SETUP.format(repository="https://example.org/mine", folder="17_fused_attention")


def test_what_we_wrote_in_a_notebook_costs_nothing(judged):
    """The set-up imports what 17, 20, 21 and 29 forbid, and no submission has check() and the like."""
    ours = "figure()  # the lesson's figure", solution("17"), "hint('17')\n\ncheck(\n)", "%time\ncheck()"
    handed_in = notebook(OUR_SETUP, *ours)
    result = judged("17", handed_in)
    assert result.status == "passed" and result.notes == ("1 magic or shell line was left out of mine.ipynb.",)


def test_only_what_is_ours_is_left_out_of_a_notebook():
    def cells(*sources: str) -> list[str]:
        return re.split(r"# --- cell \d+ ---\n", notebook(*sources).source)[1:]

    told = cells(OUR_SETUP, "x = 1; check()", "check()\ny = f(\n  2)")
    assert told[0].isspace() and told[1:] == ["x = 1; check()\n", "pass\ny = f(\n  2)\n"]
    assert cells(OUR_SETUP, "def check():\n    pass", "check()\nplot()")[2] == "check()\npass\n"
    assert cells("check()") == ["check()\n"]
    changed = OUR_SETUP.replace("setup()", "import ctypes")
    assert cells(changed, "check()") == [f"{changed}\n", "check()\n"]
    escaping = our_cells.SETUP.format(repository='"; import ctypes; "', folder="17_fused_attention")
    assert cells(escaping)[0] == f"{escaping}\n"
    assert cells(OUR_SETUP.replace("\n", "  \r\n") + "\n")[0].isspace()  # as an editor may leave it
    assert cells(f"{OUR_SETUP}\nx = 1")[0].strip() == "x = 1"  # two cells that were merged


def test_a_notebook_of_ours_that_was_saved_as_python_is_read_as_the_notebook(judged):
    head = '# -*- coding: utf-8 -*-\n"""fused.ipynb\n"""\n\n'
    data = f"{head}# In[1]:\n{OUR_SETUP}\n\nfigure()\n\n{solution('17')}\ncheck()  # hint(): a hint\n".encode()
    handed_in = submission.decode(data, "fused.py", notebook=False)
    assert handed_in.source.count("\n") == data.count(b"\n") and "subprocess" not in handed_in.source
    result = judged("17", handed_in)
    assert result.status == "passed" and result.notes == ()
    other = f"{OUR_SETUP}; import ctypes\ncheck()\n"
    assert submission.decode(other.encode(), "fused.py", notebook=False).source == other


def test_a_notebook_of_nbformat_3_is_read():
    cell = {"cell_type": "code", "input": ["import torch\n", RIGHT], "outputs": [], "prompt_number": 1}
    words = {"cell_type": "heading", "level": 1, "source": "Words"}
    data = json.dumps({"nbformat": 3, "worksheets": [{"cells": [words, cell]}, {"cells": [cell]}]}).encode()
    assert submission.decode(data, "old.ipynb", notebook=True).source.count(RIGHT) == 2


@pytest.mark.parametrize(
    "use, is_there",
    [
        ("%run src/mine.py", True),
        ("from mine import attention_weights", True),
        ("import src.mine as m", True),
        ("", False),
    ],
)
def test_a_module_that_a_cell_writes_counts_where_another_cell_uses_it(use, is_there):
    handed_in = notebook("import torch", f"%%writefile -a src/mine.py\n{WEIGHTS}", f"{VECTOR}{VECTORS}", use)
    assert (WEIGHTS in handed_in.source) == is_there


def test_of_a_name_that_is_defined_again_the_last_one_counts(grade):
    first = WEIGHTS.replace("dim=-1", "dim=0")
    cells = ["import torch", VECTOR, VECTORS]
    assert grade(notebook(*cells, first, WEIGHTS)).status == "passed"
    assert grade(notebook(*cells, WEIGHTS, first)).status == "failed"
    unfinished = "def attention_weights(inputs, device=cuda):\n    return 3"
    assert grade(notebook(*cells, WEIGHTS, unfinished)).status == "passed"  # it never ran


def test_places_are_told_by_cell(grade):
    wrong = WEIGHTS.replace("inputs.T", "inputs")
    result = grade(notebook("import torch", "# mine\n\n" + wrong, VECTOR, VECTORS))
    assert "mine.ipynb, cell 2, line 4 in attention_weights" in result.checks[0].message
    source = "# --- cell 1 ---\na = 1\n\n# --- cell 2 ---\nb\n"
    assert [syntax.place(source, line) for line in (2, 3, 5)] == ["cell 1, line 1", "cell 1, line 2", "cell 2, line 1"]
    assert syntax.place("a = 1\n# --- cell 2 ---\nb\n", 3) == "line 3"


def test_what_a_kernel_ran_is_graded_as_the_file_is(grade):
    cells = ["import torch\nimport pandas", "display(x)", f"x = 3\n\n{WEIGHTS}", VECTOR, "def f(:", f"\n  \n{VECTORS}"]
    wanted = ["attention_weights", "context_vector", "context_vectors"]
    gathered = submission.Submission(collect.source(["", *cells], wanted), "your notebook")
    assert grade(gathered).status == grade(notebook(*cells)).status == "passed"
    wrong = [*cells, WEIGHTS.replace("inputs.T", "inputs")]
    gathered = submission.Submission(collect.source(["", *wrong], wanted), "your notebook")
    for handed_in in (gathered, notebook(*wrong)):
        assert "cell 7, line 2 in attention_weights" in grade(handed_in).checks[0].message


def test_a_future_of_one_cell_holds_in_the_next(grade):
    later = VECTOR.replace("(inputs, query_index)", "(inputs: NotThere, query_index)", 1)
    cells = ["from __future__ import annotations", "import torch", WEIGHTS, later, VECTORS]
    assert grade(notebook(*cells)).notes == ()
    gathered = collect.source(["", *cells], ["attention_weights", "context_vector", "context_vectors"])
    assert grade(gathered).status == "passed"
