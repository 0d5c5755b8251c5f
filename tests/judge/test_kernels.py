"""Triton kernels in the interpreter: kept inside their tensors, recorded, explained. What is said without Triton."""

import functools
import sys

import pytest
import torch
from extras import demand_tier, needed
from thorough import nightly

from grader.catalog.exercise import Limits
from grader.judge.compare import Mismatch
from grader.judge.launched import computes_in_kernels, launches_once, loads_at_most, stays_inside
from grader.judge.measuring import compiles
from grader.judge.proxy import Learner
from grader.records.submission import Submission
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.local import Local
from grader.sandbox.remote import Remote
from grader.worker.kernels import Padded

needed("triton", "triton")
HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n@triton.jit\n"
# Each program copies one row of three with four lanes. LOAD and STORE are what follows the addresses.
COPY = HEAD + (
    "def kernel(x, y, C, BLOCK: tl.constexpr):\n"
    "    row, columns = tl.program_id(0), tl.arange(0, BLOCK)\n"
    "    inside = columns < C\n"
    "    tile = tl.load(x + row * C + columnsLOAD)\n"
    "    tl.store(y + row * C + columns, tile + 1STORE)\n"
    "\n"
    "def f(x):\n"
    "    y = torch.empty_like(x)\n"
    "    kernel[(x.shape[0],)](x, y, x.shape[1], 4)\n"
    "    return y\n"
)
MASKED = ", mask=inside"


def source_of(load: str = MASKED, store: str = MASKED) -> str:
    return COPY.replace("LOAD", load).replace("STORE", store)


def loaded(source: str) -> Learner:
    return Learner(Local(source, "copying.py", "copying"))


def copy(load: str = MASKED + ", other=0.0", store: str = MASKED) -> Learner:
    return loaded(source_of(load, store))


def refused(promise, *args) -> str:
    with pytest.raises(Mismatch) as error:
        promise(*args)
    return error.value.summary


def test_a_right_kernel_is_recorded():
    x = torch.arange(6.0).reshape(2, 3)
    record = copy().f.launches(x)
    assert torch.equal(record.result, x + 1)
    (launch,) = record.launches
    assert launch == ("kernel", 2, 4, [])
    launches_once(record, "kernel", 2)
    stays_inside(record)
    computes_in_kernels(record)
    loads_at_most(record, 4, "a row")
    assert "more numbers" in refused(loads_at_most, record, 3, "a row")
    assert "another kernel" in refused(launches_once, record, "other_kernel")


def test_what_is_outside_is_neither_read_nor_written():
    x = torch.arange(6.0).reshape(2, 3)
    record = copy(load="", store="").f.launches(x)
    assert {kind for _, kind, _ in record.launches[0].outside} == {"load", "store"}
    assert "the load in line 9 leaves the tensors" in refused(stays_inside, record)
    assert "the store in line 10" in refused(stays_inside, record, "store")
    whole = torch.arange(12.0)
    got = copy(load="", store="").f(whole[:6].reshape(2, 3))  # a plain call is kept inside as well
    assert torch.equal(got, torch.arange(1.0, 7.0).reshape(2, 3)) and torch.equal(whole, torch.arange(12.0))
    wild = COPY.replace("LOAD", " + (1 << 40)").replace("STORE", "")
    assert loaded(wild).f(x).isnan().all()


def test_what_is_written_around_a_tensor_is_found_afterwards():
    """By whatever road, as atomic operations: no lane of those is looked at."""
    x = torch.arange(12.0)[2:10:2]
    padded = Padded(x.untyped_storage(), [x])
    copy = padded.tensor(x)
    assert torch.equal(copy, x) and padded.tensor(torch.arange(12.0)).isnan().sum() == 8
    copy.mul_(2)
    assert padded.give_back() == 0 and torch.equal(x, torch.tensor([4.0, 8.0, 12.0, 16.0]))
    padded.tensor(torch.arange(12.0))[3] = 1.0
    assert padded.give_back() > 0 and torch.arange(12.0)[3] == 3.0


def test_a_gap_between_the_numbers_is_outside():
    source = source_of()
    record = loaded(source).f.launches(torch.ones(2, 6)[:, ::2])
    assert "the load in line 9" in refused(stays_inside, record)


def test_a_masked_lane_without_other_holds_nan():
    source = source_of().replace("tile + 1", "tile + 0 * tl.sum(tile, axis=0)")
    assert loaded(source).f(torch.ones(2, 3)).isnan().all()


def test_programs_run_backwards_when_asked():
    x = torch.arange(6.0).reshape(2, 3)
    learner = copy(store="")
    assert torch.equal(learner.f.launches(x).result, x + 1)  # the next row repairs what was overwritten
    got = learner.f.launches(x, backwards=True).result
    assert got[1, 0] == 1 and torch.equal(got[0], x[0] + 1)


def test_what_is_never_written_is_nan():
    learner = loaded(source_of().replace("(x.shape[0],)", "(1,)"))
    record = learner.f.launches(torch.ones(2, 3))
    assert record.result[1].isnan().all()


@pytest.mark.parametrize("work", ["x = x.clone()", "x = x + 1", "x.sum().item()"])
def test_what_torch_computes_is_seen(work):
    source = source_of().replace("    y = torch", f"    {work}\n    y = torch")
    record = loaded(source).f.launches(torch.ones(2, 3))
    assert "torch works here too" in refused(computes_in_kernels, record)


def test_a_mask_of_two_single_numbers_holds_for_each_lane():
    """Triton's interpreter keeps it as ints, and takes ints for other lanes or for none."""
    for mask, expected in (("row < 1", [2.0, 2.0, 2.0]), ("row < 0", [0.0, 0.0, 0.0])):
        source = source_of(f", mask={mask}, other=0.0", f", mask=inside & ({mask})").replace("empty_like", "zeros_like")
        record = loaded(source).f.launches(torch.ones(2, 3))
        assert torch.equal(record.result, torch.tensor([expected, [0.0, 0.0, 0.0]]))
    learner = loaded(source_of(", mask=row < 2, other=0.0", ", mask=row < 2"))
    record = learner.f.launches(torch.ones(2, 3))
    assert "line 9" in refused(stays_inside, record)  # the fourth lane lies in the next row


@pytest.mark.skipif(sys.platform != "linux", reason="the tiers A and B are Linux's")
@pytest.mark.parametrize("tier", ["A", *(pytest.param(tier, marks=nightly) for tier in "BD")])
def test_kernels_run_in_each_tier(tier):
    source = source_of("", "")
    with ForkServer(tier=demand_tier(tier).name) as fork_server:
        for _ in range(2):
            remote = Remote(fork_server, Submission(source, "copying.py"), "copying", Limits(needs=("triton",)))
            remote.load()
            record = Learner(remote).f.launches(torch.ones(2, 3))
            assert torch.equal(record.result, torch.full((2, 3), 2.0))
            assert "line 9" in refused(stays_inside, record)
            remote.close()
        look = "import sys\ndef f(x):\n    return 'triton.runtime.interpreter' in sys.modules\n"
        remote = Remote(fork_server, Submission(look, "look.py"), "look", Limits())
        remote.load()
        assert Learner(remote).f(torch.ones(1)) is False  # other exercises do not wait for Triton
        remote.close()


WRONG_ON_A_GPU = {
    "    inside = columns < C\n    for i in range(2):\n        break\n": "line 10",
    "    inside = columns < C\n    acc = 0.0\n    for i in range(0, C):\n        acc += columns * 0.0\n": "line 10",
}


@pytest.mark.parametrize("lines", WRONG_ON_A_GPU)
def test_what_a_gpu_refuses_is_found_without_one(lines, remote):
    source, x = source_of(MASKED + ", other=0.0"), torch.ones(2, 3)
    wrong = source.replace("    inside = columns < C\n", lines)
    right, refusing = (remote(text, needs=("triton",)).f for text in (source, wrong))
    assert torch.equal(right(x), x + 1) and torch.equal(refusing(x), x + 1)  # the interpreter takes both
    compiles(right, x)
    assert WRONG_ON_A_GPU[lines] in refused(compiles, refusing, x)


def test_products_that_a_gpu_would_shorten_are_found(remote):
    dot = "tl.sum(tl.dot(tl.zeros((16, 16), tl.float32) + x_, tl.zeros((16, 16), tl.float32)HOW))"
    source = COPY.replace("LOAD", ", mask=inside, other=0.0").replace("STORE", MASKED)
    source = source.replace("tile + 1", "tile + 1 + " + dot.replace("x_", "tl.program_id(0)"))
    for how, is_right in (("", False), (', input_precision="ieee"', True), (', input_precision="tf32x3"', True)):
        learner, x = remote(source.replace("HOW", how), needs=("triton",)), torch.ones(2, 3)
        compiles(learner.f, x)
        if is_right:
            compiles(learner.f, x, full_float32=True)
        else:
            assert "TF32" in refused(functools.partial(compiles, full_float32=True), learner.f, x)


def test_sources_of_one_name_run_their_own_kernels():
    first, second = copy(), loaded(source_of(MASKED + ", other=0.0").replace("tile + 1", "tile + 2"))
    x = torch.ones(2, 3)
    assert torch.equal(first.f(x), x + 1)  # its kernel is read now, after another source of that name was loaded
    assert torch.equal(second.f(x), x + 2)


def test_a_grid_without_programs_is_told_as_such():
    source = source_of().replace("kernel[(x.shape[0],)]", "kernel[(x.shape[0] // 4,)]")
    record = loaded(source).f.launches(torch.ones(2, 3))
    assert record.launches[0].programs == 0 and record.result.isnan().all()
