"""Exercise 32 where Triton is missing, its kernels for a GPU, and the figure."""

import contextlib
import sys

import pytest
import torch
from extras import skip_unless_here
from figure_case import Case
from thorough import sample
from truths import dot, softmax, tensor

from grader import catalog
from grader.catalog import paths, project
from grader.catalog.exercise import Limits
from grader.judge.proxy import Learner
from grader.records import submission
from grader.sandbox.local import Local
from grader.sandbox.remote import Remote

FOLDER = "32_triton_kernels"
POWERS = torch.tensor([1.0, 2.0, 1.0, 4.0, 1.0, 5.0, 7.0, 3.0, 7.0, 3.0, 7.0])


@pytest.fixture
def triton() -> None:
    """Skips a test where Triton is missing, and not this file, whose CASES test_figure_numbers.py takes."""
    skip_unless_here(catalog.find(FOLDER))


def test_without_triton_it_is_not_for_this_machine(monkeypatch, request, said):
    project._is_installed.cache_clear()
    request.addfinalizer(project._is_installed.cache_clear)
    monkeypatch.setitem(sys.modules, "triton", None)
    done = said("check", "32", "--submission", paths.solution(FOLDER))
    assert done.returncode == 3 and "not for this machine: the exercise needs Triton" in " ".join(done.stdout.split())
    assert not any(word in done.stdout for word in ("failed", "points", "not_graded"))
    sentence = next(line for line in done.stdout.splitlines() if "not for this machine:" in line).strip()
    tried = said("try", "32", "--submission", paths.solution(FOLDER))
    assert tried.returncode == 3 and tried.stderr == f"{sentence}\n"  # the same in every verb
    assert "not for this machine" in said("progress").stdout


def test_the_right_kernels_compile_for_a_gpu(fork_server, triton):
    """The compiler, which is asked without a GPU, is stricter than the interpreter. No check asks it for float16."""
    x = torch.ones(1, 2, 50, 16).half()
    for path in sample((paths.solution(FOLDER), *paths.styles(FOLDER)), 2):
        remote = Remote(fork_server, submission.read(path), "triton_kernels", Limits(needs=("triton",)))
        with contextlib.closing(remote.compiling()) as worker:
            worker.load()
            for causal in (False, True):
                Learner(worker).flash_attention(x, x, x, causal)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float16, 2e-3)])
def test_attention_token_by_token(dtype, tolerance, triton):
    """The interpreted kernel against plain sums. No check asks for float16."""
    torch.manual_seed(30)
    queries, keys, values = (torch.randn(1, 1, 18, 16).to(dtype) for _ in range(3))
    kernels = Learner(Local.load(paths.solution(FOLDER), "triton_kernels"))
    got = kernels.flash_attention.launches(queries, keys, values, True, 16).result[0, 0]
    assert got.dtype == dtype
    q, k, v = (one[0, 0].tolist() for one in (queries, keys, values))
    for t in range(18):
        weights = softmax([dot(q[t], k[j]) / 4 for j in range(t + 1)])
        expected = [dot(weights, column) for column in zip(*v[: t + 1], strict=True)]
        torch.testing.assert_close(got[t].double(), tensor(expected), atol=tolerance, rtol=tolerance)


def stored(row: int, lanes: int, masked: float | None = None) -> dict[str, torch.Tensor]:
    """What the program of a row stores. masked: the exponential of what a masked lane holds; None: no mask."""
    tile = POWERS[3 * row : 3 * row + lanes].clone()
    if masked is not None:
        tile[3:] = masked
    return {"the weights that are stored": tile[:3] / tile.sum()}


CASES = [
    Case([], lambda: stored(0, 4), "reads log 4 of row 1\\. So the weights of row 0 sum to 0.5, not to"),
    Case([{"Program": "row 1"}], lambda: stored(1, 4), "1 from memory past the tensor"),
    Case([{"Lanes of the tile": "8"}], lambda: stored(0, 8), "log 4, log 1, log 5 of row 1 and 2 from memory past"),
    Case([{"Lanes past the row": "hold −∞"}], lambda: stored(0, 4, 0.0), "Row 0 is right"),
    Case([{"Lanes past the row": "hold 0"}], lambda: stored(0, 4, 1.0), "A masked lane that holds 0 adds 1"),
]
