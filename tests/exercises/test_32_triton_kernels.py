"""Exercise 32 where Triton is missing, its kernels for a GPU, and the figure."""

import contextlib
import itertools
import sys

import pytest
import torch
from extras import needed
from figure_case import NUMBERS, Case

from grader.catalog import paths, project
from grader.catalog.exercise import Limits
from grader.judge.launched import computes_in_kernels, launches_once, loads_at_most, stays_inside
from grader.judge.proxy import Learner
from grader.records import submission
from grader.sandbox.local import Local
from grader.sandbox.remote import Remote

needed("triton", "triton")
FOLDER = "32_triton_kernels"


@pytest.fixture
def without_triton(monkeypatch):
    """As if it were not installed."""
    project._is_installed.cache_clear()
    monkeypatch.setitem(sys.modules, "triton", None)
    yield
    project._is_installed.cache_clear()


def test_without_triton_it_is_not_for_this_machine(without_triton, said):
    done = said("check", "32", "--submission", paths.solution(FOLDER))
    assert done.returncode == 3 and "not for this machine: the exercise needs Triton" in " ".join(done.stdout.split())
    assert not any(word in done.stdout for word in ("failed", "points", "not_graded"))
    sentence = next(line for line in done.stdout.splitlines() if "not for this machine:" in line).strip()
    tried = said("try", "32", "--submission", paths.solution(FOLDER))
    assert tried.returncode == 3 and tried.stderr == f"{sentence}\n"  # the same in every verb
    assert "not for this machine" in said("progress").stdout


def test_the_right_kernels_compile_for_a_gpu(fork_server):
    """The compiler, which is asked without a GPU, is stricter than the interpreter. No check asks it for float16."""
    x = torch.ones(1, 2, 50, 16).half()
    for path in (paths.solution(FOLDER), *paths.styles(FOLDER)):
        remote = Remote(fork_server, submission.read(path), "triton_kernels", Limits(needs=("triton",)))
        with contextlib.closing(remote.compiling()) as worker:
            worker.load()
            for causal in (False, True):
                Learner(worker).flash_attention(x, x, x, causal)


@pytest.fixture(scope="module")
def kernels():
    """The solution, whose kernels are interpreted."""
    return Learner(Local.load(paths.solution(FOLDER), "triton_kernels"))


def close(record, expected, tolerance=2e-5):
    torch.testing.assert_close(record.result.double(), expected, atol=tolerance, rtol=tolerance)
    stays_inside(record)
    computes_in_kernels(record)


@pytest.mark.parametrize("shape", [(1, 1), (7, 1), (2, 2), (3, 31), (3, 33), (2, 300)])
def test_softmax(kernels, shape):
    torch.manual_seed(30)
    for x in (5 * torch.randn(shape), torch.randn(shape[::-1]).T, torch.randn(shape[0], 3 * shape[1])[:, 1::3]):
        for backwards in (False, True):
            record = kernels.softmax.launches(x, backwards=backwards)
            close(record, torch.softmax(x.double(), dim=-1))
            launches_once(record, "softmax_kernel", shape[0])


@pytest.mark.parametrize(("M", "K", "N", "block"), [(1, 1, 1, 16), (16, 16, 16, 16), (17, 33, 15, 16), (40, 5, 70, 32)])
def test_matmul(kernels, M, K, N, block):
    torch.manual_seed(30)
    for a, b in ((torch.randn(M, K), torch.randn(K, N)), (torch.randn(K, M).T, torch.randn(K, 2 * N)[:, ::2])):
        record = kernels.matmul.launches(a, b, block, backwards=True)
        close(record, a.double() @ b.double())
        loads_at_most(record, block * block, "a tile")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("shape", [(1, 1, 1, 16), (2, 3, 20, 16), (1, 2, 33, 32)])
def test_flash_attention(kernels, shape, dtype):
    torch.manual_seed(30)
    queries, keys, values = (torch.randn(shape, dtype=torch.float64).to(dtype) for _ in range(3))
    for causal, block in itertools.product((False, True), (16, 64)):
        record = kernels.flash_attention.launches(queries, keys, values, causal, block)
        whole = torch.nn.functional.scaled_dot_product_attention
        expected = whole(queries.double(), keys.double(), values.double(), is_causal=causal)
        close(record, expected, 2e-5 if dtype == torch.float32 else 2e-3 * float(expected.abs().max()))
        assert record.result.dtype == dtype


def test_token_by_token(kernels):
    """Attention with plain sums, one token after the other."""
    torch.manual_seed(30)
    queries, keys, values = (torch.randn(1, 1, 18, 16) for _ in range(3))
    got = kernels.flash_attention.launches(queries, keys, values, True, 16).result[0, 0]
    q, k, v = (one[0, 0].tolist() for one in (queries, keys, values))
    for t in range(18):
        powers = [2.718281828459045 ** (sum(a * b for a, b in zip(q[t], k[j])) / 4) for j in range(t + 1)]
        expected = [sum(p * v[j][n] for j, p in enumerate(powers)) / sum(powers) for n in range(16)]
        torch.testing.assert_close(got[t], torch.tensor(expected), atol=1e-5, rtol=1e-5)


POWERS = torch.tensor([1.0, 2.0, 1.0, 4.0, 1.0, 5.0, 7.0, 3.0, 7.0, 3.0, 7.0])


def stored(row: int, lanes: int, masked: float | None = None) -> dict[str, torch.Tensor]:
    """What the program of a row stores. masked: the exponential of what a masked lane holds; None: no mask."""
    tile = POWERS[3 * row : 3 * row + lanes].clone()
    if masked is not None:
        tile[3:] = masked
    return {"the weights that are stored": tile[:3] / tile.sum()}


CASES = [
    Case(
        "as it opens",
        [NUMBERS],
        lambda: stored(0, 4),
        "reads log 4 of row 1\\. So the weights of row 0 sum to 0.5, not to",
    ),
    Case(
        "the last row", [NUMBERS, ("choose", "Program", "row 1")], lambda: stored(1, 4), "1 from memory past the tensor"
    ),
    Case(
        "wide",
        [NUMBERS, ("choose", "Lanes of the tile", "8")],
        lambda: stored(0, 8),
        "log 4, log 1, log 5 of row 1 and 2 from memory past",
    ),
    Case("masked", [NUMBERS, ("choose", "Lanes past the row", "hold −∞")], lambda: stored(0, 4, 0.0), "Row 0 is right"),
    Case(
        "masked with 0",
        [NUMBERS, ("choose", "Lanes past the row", "hold 0")],
        lambda: stored(0, 4, 1.0),
        "A masked lane that holds 0 adds 1",
    ),
]
