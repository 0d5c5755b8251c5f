"""What people write in a file beside the answer, as any script does, and what is said of it."""

import sys

import pytest

from grader import catalog
from grader.catalog import paths
from grader.judge.messages import NEWER, NOT_COMPILED
from grader.records.results import ExerciseResult

EXERCISE = catalog.find("03")
RIGHT = paths.solution(EXERCISE.folder).read_text("utf-8")
FIRST = "def attention_weights(inputs: torch.Tensor) -> torch.Tensor:\n"
LAYER = "class SelfAttention_v2(nn.Module):\n"
OURS = ("_NUM_THREADS", "GLIBC_TUNABLES", "readable", "import_paths", "seccomp", "landlock", "KATA")


@pytest.fixture
def graded(judged):
    return lambda source, exercise="03": judged(exercise, source, name="mine.py")


def first_message(result: ExerciseResult) -> str:
    return next((check.message for check in result.checks if check.outcome == "failed"), result.message)


def test_the_arguments_of_the_program_are_the_files_name(graded):
    parser = "import argparse, sys\nparser = argparse.ArgumentParser()\nparser.add_argument('--t', default=1.0)\n"
    result = graded(f"{parser}args = parser.parse_args()\nprint(sys.argv)\n{RIGHT}")
    assert (result.status, result.notes, result.output) == ("passed", (), "['mine.py']\n")


def test_nothing_of_ours_is_in_arguments_environment_or_frames(graded):
    """By ordinary means: what a learner prints who looks for a setting."""
    look = """
import os, sys
seen, frame = [repr(sys.argv), repr(sys.orig_argv), repr(dict(os.environ))], sys._getframe()
while frame is not None:
    seen.append(repr(frame.f_locals if frame.f_code.co_name == "<module>" else dict(frame.f_locals)))
    frame = frame.f_back
for text in seen:
    for start in range(0, len(text), 2000):
        print(text[start:start + 2000].replace("\\n", " "))
"""
    result = graded(f"import torch\n{look}\n{RIGHT}")
    assert result.status == "passed" and "mine.py" in result.output
    assert [word for word in OURS if word in result.output] == []


@pytest.mark.parametrize(
    "before, after",
    [
        ("@torch.compile\n", ""),
        ("@torch.compile(dynamic=True, mode='reduce-overhead')\n", ""),
        ("from torch import compile\n@compile\n", ""),
        ("", "attention_weights = torch.compile(attention_weights, backend='eager')\n"),
        ("@torch.compiler.disable\n", "attention_weights = torch.compile(attention_weights)\n"),
    ],
)
def test_a_compiled_function_runs_as_the_plain_one(before, after, graded):
    assert FIRST in RIGHT
    result = graded(RIGHT.replace(FIRST, before + FIRST) + after)
    assert result.status == "passed" and NOT_COMPILED in result.notes


@pytest.mark.parametrize("change", ["class", "method", "layer in place"])
def test_a_compiled_layer_runs_as_the_plain_one(change, graded):
    right = paths.solution(catalog.find("08").folder).read_text("utf-8")
    assert LAYER in right
    forward = right.index("    def forward(", right.index(LAYER))
    source = {
        "class": f"{right}\nkept = torch.compile(SelfAttention_v2(2, 2))\nSelfAttention_v2 = type(kept)\n",
        "method": f"{right[:forward]}    @torch.compile\n{right[forward:]}",
        "layer in place": f"{right}\nlayer = SelfAttention_v2(2, 2)\nlayer.compile()\nlayer(torch.ones(1, 2))\n",
    }[change]
    result = graded(source, "08")
    assert result.status == "passed" and result.notes == (NOT_COMPILED,)


def test_a_sleep_is_no_loop(graded):
    body = "    import time\n    time.sleep(1000)\n"
    result = graded(RIGHT.replace(FIRST, FIRST + body))
    message = first_message(result)
    assert "infinite loop" not in str(result) and "waits" in message and "5 s on the clock" in message
    nap = "    import time\n    napped or napped.append(time.sleep(1.5))\n"  # more than a processor's second
    assert graded(f"napped = []\n{RIGHT.replace(FIRST, FIRST + nap)}").status == "passed"


@pytest.mark.parametrize("end", ["import sys\nsys.exit(0)", "exit()", "raise SystemExit"])
def test_an_end_that_went_well_is_no_failure(end, graded):
    for source in (f"{RIGHT}\n{end}\n", f"{end}\n{RIGHT}"):
        result = graded(source)
        assert (result.status, result.notes) == ("passed", ())
    assert "SystemExit, 2" in graded(f"{RIGHT}\nimport sys\nsys.exit(2)\n").notes[0]


def test_a_file_for_a_newer_python_is_told_which_one_grades(graded, monkeypatch):
    newer = {
        "except* ValueError:": (3, 11),
        "def first[T](items):": (3, 12),
        "class Pair[T]:": (3, 12),
        "type X = int": (3, 12),
    }
    newer |= {"print(f'{d['a']}')": (3, 12), "except ValueError, TypeError:": (3, 14), "x = t'{a}'": (3, 14)}
    for line, version in newer.items():
        assert [known for known, form in NEWER if form.match(line)] == [version], line
    assert not any(form.match(line) for _, form in NEWER for line in ("print(f'{x}', 'a')", "x = d['a'", "def f(x:"))
    here = "Python {}.{}".format(*sys.version_info)
    assert f"{here} grades your file" in graded("def f(:\n").message
    needed = min((version for version in newer.values() if version > sys.version_info[:2]), default=None)
    for line in [line for line, version in newer.items() if version == needed]:
        around = f"try:\n    pass\n{line}\n    pass\n" if line.startswith("except") else f"{line}\n    pass\n"
        assert f"valid from Python {needed[0]}.{needed[1]} on" in graded(around + RIGHT).message, line
