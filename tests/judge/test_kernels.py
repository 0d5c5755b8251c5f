"""Triton kernels in the interpreter: kept inside their tensors, recorded, explained. What is said without Triton."""

import contextlib
import functools
import sys

import pytest
import torch
from extras import demand_tier, needed
from raised import raised
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
LATER_A_TENSOR = "    acc = 0.0\n    for i in range(0, C):\n        acc += columns * 0.0\n"


def source_of(load: str = MASKED, store: str = MASKED, *changes: tuple[str, str]) -> str:
    source = COPY.replace("LOAD", load).replace("STORE", store)
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    return source


def loaded(source: str) -> Learner:
    return Learner(Local(source, "copying.py", "copying"))


def launched(x: torch.Tensor, *how, **options):
    return loaded(source_of(*how)).f.launches(x, **options)


def refused(promise, *args) -> str:
    return raised(Mismatch, promise, *args).summary


ROWS, ONES = torch.arange(6.0).reshape(2, 3), torch.ones(2, 3)
FILLED = MASKED + ", other=0.0"


def test_a_right_kernel_is_recorded():
    record = launched(ROWS, FILLED)
    assert torch.equal(record.result, ROWS + 1) and record.launches == (("kernel", 2, 4, []),)
    launches_once(record, "kernel", 2)
    stays_inside(record)
    computes_in_kernels(record)
    loads_at_most(record, 4, "a row")
    assert "more numbers" in refused(loads_at_most, record, 3, "a row")
    assert "another kernel" in refused(launches_once, record, "other_kernel")


def test_what_is_outside_is_neither_read_nor_written():
    record = launched(ROWS, "", "")
    assert {kind for _, kind, _ in record.launches[0].outside} == {"load", "store"}
    assert "the load in line 9 leaves the tensors" in refused(stays_inside, record)
    assert "the store in line 10" in refused(stays_inside, record, "store")
    whole = torch.arange(12.0)
    got = loaded(source_of("", "")).f(whole[:6].reshape(2, 3))  # a plain call is kept inside as well
    assert torch.equal(got, torch.arange(1.0, 7.0).reshape(2, 3)) and torch.equal(whole, torch.arange(12.0))
    assert loaded(source_of(" + (1 << 40)", "")).f(ROWS).isnan().all()
    gaps = launched(torch.ones(2, 6)[:, ::2])  # between the numbers
    assert "the load in line 9" in refused(stays_inside, gaps)


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


def test_what_nothing_gives_a_value_is_nan():
    masked = launched(ONES, MASKED, MASKED, ("tile + 1", "tile + 0 * tl.sum(tile, axis=0)"))  # a lane without `other`
    assert masked.result.isnan().all()
    assert launched(ONES, MASKED, MASKED, ("(x.shape[0],)", "(1,)")).result[1].isnan().all()  # never written
    record = launched(ONES, MASKED, MASKED, ("(x.shape[0],)", "(x.shape[0] // 4,)"))
    assert record.launches[0].programs == 0 and record.result.isnan().all()


def test_programs_run_backwards_when_asked():
    assert torch.equal(launched(ROWS, FILLED, "").result, ROWS + 1)  # the next row repairs what was overwritten
    got = launched(ROWS, FILLED, "", backwards=True).result
    assert got[1, 0] == 1 and torch.equal(got[0], ROWS[0] + 1)


@pytest.mark.parametrize("work", ["x = x.clone()", "x = x + 1", "x.sum().item()"])
def test_what_torch_computes_is_seen(work):
    record = launched(ONES, MASKED, MASKED, ("    y = torch", f"    {work}\n    y = torch"))
    assert "torch works here too" in refused(computes_in_kernels, record)


def test_a_mask_of_two_single_numbers_holds_for_each_lane():
    """Triton's interpreter keeps it as ints, and takes ints for other lanes or for none."""
    for mask, expected in (("row < 1", [2.0, 2.0, 2.0]), ("row < 0", [0.0, 0.0, 0.0])):
        masks = f", mask={mask}, other=0.0", f", mask=inside & ({mask})"
        record = launched(ONES, *masks, ("empty_like", "zeros_like"))
        assert torch.equal(record.result, torch.tensor([expected, [0.0, 0.0, 0.0]]))
    record = launched(ONES, ", mask=row < 2, other=0.0", ", mask=row < 2")
    assert "line 9" in refused(stays_inside, record)  # the fourth lane lies in the next row


@pytest.mark.skipif(sys.platform != "linux", reason="the tiers A and B are Linux's")
@pytest.mark.parametrize("tier", ["A", *(pytest.param(tier, marks=nightly) for tier in "BD")])
def test_kernels_run_in_each_tier(tier, fork_server):
    look = "import sys\ndef f(x):\n    return 'triton.runtime.interpreter' in sys.modules\n"
    same = demand_tier(tier).name == fork_server.tier.name
    with contextlib.nullcontext(fork_server) if same else ForkServer(tier=tier) as server:
        for source, needs in ((source_of("", ""), ("triton",)), (look, ()), (source_of("", ""), ("triton",))):
            remote = Remote(server, Submission(source, "copying.py"), "copying", Limits(needs=needs))
            remote.load()
            if source == look:
                assert Learner(remote).f(ONES) is False  # other exercises do not wait for Triton
            else:
                record = Learner(remote).f.launches(ONES)
                assert torch.equal(record.result, torch.full((2, 3), 2.0))
                assert "line 9" in refused(stays_inside, record)
            remote.close()


@pytest.mark.parametrize("lines", ["    for i in range(2):\n        break\n", LATER_A_TENSOR])
def test_what_a_gpu_refuses_is_found_without_one(lines, remote):
    inside = "    inside = columns < C\n"
    sources = source_of(FILLED), source_of(FILLED, MASKED, (inside, inside + lines))
    right, refusing = (remote(source, needs=("triton",)).f for source in sources)
    assert torch.equal(right(ONES), ONES + 1) and torch.equal(refusing(ONES), ONES + 1)  # the interpreter takes both
    compiles(right, ONES)
    assert "line 10" in refused(compiles, refusing, ONES)


def test_products_that_a_gpu_would_shorten_are_found(remote):
    zeros = "tl.zeros((16, 16), tl.float32)"
    dot = f"tile + 1 + tl.sum(tl.dot({zeros} + tl.program_id(0), {zeros}HOW))"
    for how in ("", ', input_precision="ieee"', ', input_precision="tf32x3"'):
        f = remote(source_of(FILLED, MASKED, ("tile + 1", dot.replace("HOW", how))), needs=("triton",)).f
        compiles(f, ONES)
        if how:
            compiles(f, ONES, full_float32=True)
        else:
            assert "TF32" in refused(functools.partial(compiles, full_float32=True), f, ONES)


def test_sources_of_one_name_run_their_own_kernels():
    first, second = (loaded(source_of(FILLED, MASKED, ("tile + 1", f"tile + {number}"))) for number in (1, 2))
    assert torch.equal(first.f(ONES), ONES + 1)  # its kernel is read now, after the other source was loaded
    assert torch.equal(second.f(ONES), ONES + 2)
