"""The record of operations: what torch ran in one call is told whole, cannot be made up, and is counted from shapes."""

import re

import pytest
import torch
from raised import raised

from grader import catalog
from grader.authors import Mismatch, Operation, largest_tensor, multiply_adds, work_grows_less_than
from grader.catalog import paths
from grader.judge import dispatched, grading
from grader.judge.proxy import Learner
from grader.records.results import Settings
from grader.records.submission import Submission
from grader.sandbox.call_results import LearnerError
from grader.sandbox.local import Local
from grader.worker import op_record, protocol
from grader.worker.codec import Encoder
from grader.worker.protocol import Reply
from grader.worker.wire import ProtocolError

HEAD = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"
HEADS = torch.randn(2, 3, 5, 4)


def of(body: str, *args, before: str = "") -> list[Operation]:
    """The record of f, whose only line is `body`."""
    names = ", ".join("qkv"[: len(args)])
    source = f"{HEAD}{before}\ndef f({names}):\n    return {body}\n"
    return Learner(Local(source, "submission.py", "submission"), seed=3).f.operations(*args)


def recorded(body: str, x: torch.Tensor, before: str = "") -> Reply:
    """The reply to the same call as a worker makes it, before anything judges the record."""
    encoder = Encoder(strides=True)
    request = protocol.Call(["f"], ["list", [encoder.node(x)]], ["dict", []], seed=0, want="operations")
    source = f"{HEAD}{before}\ndef f(q):\n    return {body}\n"
    return Local(source, "submission.py", "submission").exchange(request, encoder.tensors)[0]


def test_operations_are_told_in_order_with_their_shapes():
    record = of("torch.softmax(q @ k.mT, dim=-1).mul_(2)", torch.randn(3, 4), torch.randn(5, 4))
    told = [operation for operation in record if operation.name not in dispatched.VIEWS]
    assert told == [
        Operation("mm", ((3, 4), (4, 5)), ((3, 5),)),
        Operation("_softmax", ((3, 5),), ((3, 5),)),
        Operation("mul", ((3, 5),), ((3, 5),)),
    ]


ROADS = (
    "F.scaled_dot_product_attention(q, q, q, is_causal=True)",
    "torch._C._nn.scaled_dot_product_attention(q, q, q)",
    "torch.ops.aten.scaled_dot_product_attention(q, q, q)",
    "torch.ops.aten.scaled_dot_product_attention.default(q, q, q)",
    "F.scaled_dot_product_attention(query=q, key=q, value=q, dropout_p=0.5)",
)


def test_ready_made_attention_is_one_operation_by_whatever_road_and_attention_by_hand_is_none():
    shape = list(HEADS.shape)
    for road in ROADS:
        assert recorded(road, HEADS).operations == [["scaled_dot_product_attention", [shape] * 3, [shape]]], road
    record = of("nn.MultiheadAttention(4, 2)(q, q, q, need_weights=False)[0]", HEADS[0])
    assert any(operation.is_attention for operation in record)
    record = of("torch.softmax((q @ q.mT).masked_fill(torch.ones(5, 5).triu(1).bool(), -torch.inf), -1) @ q", HEADS)
    assert not any(operation.is_attention for operation in record)
    assert largest_tensor(record) == 2 * 3 * 5 * 5


FORGED = """
from torch.overrides import handle_torch_function

class Dispatching(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
    def __init__(self, inner):
        self.inner = inner
    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return args[0].inner @ args[0].inner.mT

class Named:
    __name__ = "scaled_dot_product_attention"
    def __eq__(self, other):
        return True
    def __hash__(self):
        return hash(F.scaled_dot_product_attention)
    def __call__(self, q):
        return q * 2
"""


def test_what_computes_between_the_code_and_torch_is_no_record():
    """A class with __torch_function__ is an attack: C 54."""
    assert recorded("torch.relu(Dispatching(q))", torch.randn(5, 4), FORGED).unrecorded == op_record.OWN_DISPATCH
    reply = recorded("handle_torch_function(Named(), (q,), q)", HEADS, FORGED)  # it equals the fused function
    assert [name for name, *_ in reply.operations] == ["mul"]
    assert "stays out of such machinery" in str(raised(Mismatch, of, "q * 2", HEADS, before="import threading"))


def test_too_many_operations_are_said_to_be_too_many():
    most = protocol.MAX_OPERATIONS
    assert len(of(f"[q.add_(1) for _ in range({most})][0]", torch.zeros(1))) == most
    with pytest.raises(Mismatch, match="more than 8,000 operations"):
        of(f"[q.add_(1) for _ in range({most + 1})][0]", torch.zeros(1))


def test_a_record_too_large_for_a_frame_is_missing(remote):
    source = f"{HEAD}\ndef f(q):\n    return [torch.cat([q] * 15) for _ in range({protocol.MAX_OPERATIONS})][0]\n"
    error = raised(LearnerError, remote(source, call_s=60.0, call_cpu_s=20.0).f.operations, torch.zeros((0,) * 16))
    assert error.facts == {"message": "the record of operations is missing"}


def test_an_error_in_the_call_is_the_learners():
    error = raised(LearnerError, of, "F.scaled_dot_product_attention(q, q[0, 0, 0], q)", HEADS)
    assert error.kind == "exception"


ROW = ["mm", [[2, 3], [3, 4]], [[2, 4]]]
MALFORMED = [
    {}, [{}], [["mm"]], [["mm", [], [], []]], [["x" * 30_000, [], []]], [[1, [], []]], [["mm", [2, 3], []]],
    [["mm", [[-1]], []]], [["mm", [[2.0]], []]], [["mm", [[True]], []]], [["mm", [[1 << 50]], []]],
    [["mm", [[1] * 17], []]], [["mm", [[1]] * 17, []]], [["mm", [], None]], [ROW] * (protocol.MAX_OPERATIONS + 1),
]  # fmt: skip


def test_a_malformed_record_is_refused():
    for rows in MALFORMED:
        raised(ProtocolError, protocol.decode_reply, protocol.encode_reply(Reply(1, operations=rows)))


def test_a_record_that_a_stranger_wrote_is_bounded_and_named_by_torch():
    reply, _ = protocol.decode_reply(protocol.encode_reply(Reply(1, operations=[ROW] * 4000)))
    assert dispatched.operations(reply, "")[0] == Operation("mm", ((2, 3), (3, 4)), ((2, 4),))
    with pytest.raises(Mismatch, match="stands between"):
        dispatched.operations(Reply(1, operations=[["0.6296386", [], []]]), "")
    raised(ProtocolError, dispatched.operations, Reply(1), "")
    raised(ProtocolError, dispatched.operations, Reply(1, operations=[], unrecorded="the input was 0.6296386"), "")
    for words in op_record.NOT_WHOLE:
        with pytest.raises(Mismatch, match=re.escape(words)):
            dispatched.operations(Reply(1, operations=[], unrecorded=words), "")


WORK = [  # what is computed, of which shapes, and its multiply-adds
    ("q @ k", [(3, 4), (4, 5)], 60),
    ("q @ k", [(2, 3, 4), (2, 4, 5)], 120),
    ("q @ k", [(3, 4), (4,)], 12),
    ("q @ k", [(4,), (4,)], 4),
    ("torch.outer(q, k)", [(3,), (5,)], 15),
    ("F.linear(q, k, v)", [(2, 3, 4), (5, 4), (5,)], 120),
    ("torch.einsum('btd,ed->bte', q, k)", [(2, 3, 4), (5, 4)], 120),
    ("(q[:, None] * k).sum(-1)", [(3, 4), (5, 4)], 60 + 60),
    ("q.sum()", [(7,)], 7),
    ("q.exp()", [(7, 2)], 14),
    ("q.mT.reshape(28) * 1", [(7, 4)], 28 + 28),
    ("q.mT[None].expand(9, 4, 7)[0]", [(7, 4)], 0),
    ("F.scaled_dot_product_attention(q, k, v)", [(2, 1, 4), (2, 5, 4), (2, 5, 3)], 2 * 5 * 4 + 2 * 5 * 3),
]


def test_work_is_counted_from_shapes():
    for body, shapes, work in WORK:
        assert multiply_adds(of(body, *(torch.randn(shape) for shape in shapes))) == work, body


def test_work_that_grows_with_the_square_is_told():
    step, whole = ([of(f"{one} @ q.mT", torch.randn(n, 4)) for n in (10, 100)] for one in ("q[:1]", "q"))
    work_grows_less_than(4 * 90 + 1, *step, "one token")
    with pytest.raises(Mismatch, match="the work for one token grows too much") as error:
        work_grows_less_than(4 * 90 + 1, *whole, "one token")
    assert "40,000" in error.value.details


@pytest.mark.slow
def test_in_a_class_the_same_answers_of_a_source_that_could_forge_them_are_no_pass(fork_server):
    """Equal answers are judged once, but the verdict on a record depends on the source too."""
    exercise = catalog.find("17")
    source = paths.solution(exercise.folder).read_text("utf-8")
    sources = [source, source + "\n# as others\n", source + "\nimport threading\n", source]
    handed_in = [Submission(text, f"{number}.py") for number, text in enumerate(sources)]
    settings = Settings(seed=5, reveal=False)
    results = [*grading.results(exercise, handed_in, fork_server, settings)]
    assert [result.status for result in results] == ["passed", "passed", "failed", "passed"]
    failed = [check.id for check in results[2].checks if check.outcome == "failed"]
    assert failed == ["fused_call", "one_projection"]
