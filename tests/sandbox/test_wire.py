"""The border: frames and values survive the journey, and nothing else gets through."""

import contextlib
import itertools
import json
import math
import os
import random
import socket
import struct
import sys
import threading
import time

import frames
import pytest
import torch
from globs import some
from raised import raised

pytest.importorskip("hypothesis", reason="hypothesis is not installed (extra dev)")

from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import THOROUGH

from grader.catalog import paths
from grader.worker import framing, wire
from grader.worker.codec import DTYPES, Decoder, Encoder, Handle, Opaque

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=20,
)


EXAMPLES = 300 if THOROUGH else 100


def travel(value, laid_out: bool = False, **options):
    encoder = Encoder(**options)
    node = encoder.node(value)
    message, tensors = wire.decode(wire.encode({"value": node}, encoder.tensors))
    return Decoder(tensors, strides=laid_out).value(message["value"])


@given(PLAIN)
@settings(max_examples=EXAMPLES, deadline=None)
def test_plain_values_come_back_as_they_went(value):
    assert travel(value) == value


def test_tensors_come_back_as_they_went():
    for dtype, shape in itertools.product(DTYPES.values(), [(), (0,), (3,), (2, 0, 4), (2, 3, 4)]):
        tensor = (torch.randn(shape) * 10).to(dtype)
        back = travel(tensor)
        assert back.dtype == dtype and back.shape == tensor.shape and torch.equal(back, tensor)


def test_what_is_said_of_a_tensor():
    tensor = torch.randn(4, 3).T.requires_grad_()
    back = travel(tensor, strides=True)
    assert back.facts == {"device": "cpu", "requires_grad": True} and back.is_contiguous()
    again = travel(tensor, laid_out=True, strides=True)
    assert again.stride() == (1, 3) and torch.equal(again, tensor) and not hasattr(again, "facts")
    assert torch.equal(back, tensor)


def test_arguments_may_be_bytes_and_dtypes():
    for value in (b"", b"\x00two\xff", torch.float16, torch.int64, [torch.bfloat16, {"data": b"1"}]):
        assert travel(value, True, strides=True) == value


CROSSING = [  # what is sent, and what comes out
    ([b"123", torch.float64], [Opaque("bytes"), torch.float64]),  # bytes in a result are named, and not sent
    ([math.inf, -math.inf], [math.inf, -math.inf]),
    (Handle(3, "Layer"), Handle(3, "Layer")),
    (torch.zeros(2).to_sparse(), Opaque("a tensor with layout sparse_coo")),
    (torch.zeros(2, dtype=torch.complex64), Opaque("a tensor of dtype complex64")),
    (torch.zeros(1).expand(1 << 40), Opaque("a tensor of 1,099,511,627,776 elements")),
    (torch.zeros(2).as_subclass(type("Mine", (torch.Tensor,), {})), Opaque("a subclass of torch.Tensor")),
    (object(), Opaque("an object")),
    (print, Opaque("a function")),
    (1 << 70, Opaque("a very large int")),
    (3 + 4j, Opaque("a complex number")),
]


def test_what_cannot_cross_is_named():
    for value, expected in CROSSING:
        assert travel(value) == expected
    knot = []
    knot.append(knot)
    assert math.isnan(travel(math.nan)) and "nested too deeply" in str(travel(knot))


def frame(header: object, payload: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + payload


def entries(*tensors: object) -> dict:
    return {"message": {}, "tensors": list(tensors)}


FOUR = b"\0" * 4  # the bytes of one float32
EMPTY = json.dumps(entries()).encode()
MALFORMED = [
    struct.pack("<Q", len(EMPTY) + 1) + EMPTY, frame(EMPTY + b" " * wire.MAX_HEADER),
    b"", b"1234567", struct.pack("<Q", 1 << 60), struct.pack("<Q", 5) + b"{}", frame(b"[" * 100_000),
    frame(b"\xff\xfe"), frame([]), frame({}), frame({"message": {}}), frame({"message": 1, "tensors": []}),
    frame({"message": {}, "tensors": {}}), frame({"message": {}, "tensors": [], "more": 1}),
    *(frame(f'{{"message":{message},"tensors":[]}}'.encode())
      for message in ("[]", "{'a':1}", "1" * 60_000, '{"a":' + "1" * 30 + "}")),
    *(frame(f'{{"message":{{{fact}}},"tensors":[]}}'.encode())
      for fact in ('"a":NaN', '"a":1e999', '"a":"\\ud800"')),
    frame(entries(), b"left over"), frame(entries(["F32", [1]]), b"\0" * 8), frame(entries(["F32", [0, 1 << 62]])),
    *(frame(entries(entry), FOUR)
      for entry in (["F32", [2]], ["F32", [-1]], ["F32", [True]], ["F32", [1.0]], ["PICKLE", [1]], [["F32"], [1]],
                    ["F32", [1] * 99], ["F32", [1], "x"], "F32")),
    frame(entries(["F32", [1]], ["F32", [1]]), FOUR), frame(entries(*[["F32", [0]]] * (wire.MAX_TENSORS + 1))),
]  # fmt: skip
MALFORMED_VALUES = [
    {}, [], [1], ["pickle", "x"], ["tensor", 1, {}], ["tensor", -1, {}], ["tensor", True, {}], ["float", "1"],
    ["list", 3], ["dict", [[1]]], ["object", "0", "x"], ["meta", "F32", [-1]], ["meta", "F32", [1 << 40, 1 << 40]],
    ["list", [["list", [["list", [["list", [["list", [["list", [["list", [["list"]]]]]]]]]]]]]]],
    ["list", [["tensor", 0, {}], ["tensor", 0, {}]]], ["meta", ["F32"], [1]], ["meta", {}, []],
    ["meta", "F32", [0, *[(1 << 31) - 1] * 15]],  # the last four are small and ask for much
]  # fmt: skip


def test_what_is_malformed_is_refused():
    for body in MALFORMED:
        with pytest.raises(wire.ProtocolError):
            pytest.fail(f"{body[:200]} gave {wire.decode(body)}")
    for node in MALFORMED_VALUES:
        with pytest.raises(wire.ProtocolError):
            pytest.fail(f"{node} gave {Decoder([wire.RawTensor('F32', (1,), FOUR)]).value(node)}")


def test_what_is_as_large_as_it_may_be_goes_through():
    many, large = [wire.RawTensor("U8", (0,), b"")] * wire.MAX_TENSORS, bytes(wire.MAX_PAYLOAD)
    for tensors in (many, [wire.RawTensor("U8", (len(large),), large)]):
        assert wire.decode(wire.encode({}, tensors)) == ({}, tensors)


def test_pairs_of_halves_are_whole_characters():
    assert wire.decode(frame(b'{"message":{"a":"\\ud83d\\ude00"},"tensors":[]}'))[0] == {"a": "😀"}


@pytest.fixture
def ends():
    """The two ends of a connection, ours and theirs."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_one_deadline_covers_a_frame_that_drips_in(ends):
    ours, theirs = ends

    def drip():
        with contextlib.suppress(OSError):
            for byte in framing.PREFIX.pack(framing.MAGIC, 1, 50) + b"x" * 50:
                theirs.sendall(bytes([byte]))
                time.sleep(0.05)

    threading.Thread(target=drip, daemon=True).start()
    began = time.monotonic()
    raised(TimeoutError, framing.Inbox(ours).receive, began + 0.5)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("piece", [1, 7, 20, 33, 10_000])
def test_an_inbox_finds_the_frames_however_they_come(piece, ends):
    ours, theirs = ends
    bodies = [wire.encode({"number": number}) for number in range(5)] + [wire.encode({"long": "x" * 100_000})]
    sent = b"".join(framing.frame(number, body) for number, body in enumerate(bodies))
    pieces = [sent[start : start + piece] for start in range(0, len(sent), piece)]
    threading.Thread(target=lambda: [*map(theirs.sendall, pieces)], daemon=True).start()
    inbox = framing.Inbox(ours)
    for number, body in enumerate(bodies):
        assert inbox.receive(time.monotonic() + 20) == (number, body)
    assert inbox.take() is None
    theirs.close()
    raised(framing.Closed, inbox.receive, time.monotonic() + 5)


@pytest.mark.parametrize("prefix", [b"EVIL" + bytes(16), framing.PREFIX.pack(framing.MAGIC, 1, 1 << 50)])
def test_an_inbox_refuses_what_is_no_frame_behind_one_that_is(prefix, ends):
    ours, theirs = ends
    theirs.sendall(framing.frame(1, wire.encode({})) + prefix)
    inbox = framing.Inbox(ours)
    inbox.receive(time.monotonic() + 5)
    for ask in (lambda: inbox.receive(time.monotonic() + 5), inbox.take):
        raised(wire.ProtocolError, ask)


TRAINED = (paths.module("judge/inputs.py"), paths.module("integrations/nbgrader/in_notebook.py"))


def test_nothing_of_ours_unpickles():
    for path in some(paths.GRADER.rglob("*.py")):
        source = path.read_text("utf-8").replace("_torch.load = ", "")  # another function in its place loads nothing
        if path in TRAINED:  # our own file, and tensors alone
            assert source.count("torch.load(") == source.count(", weights_only=True)") == 1
            source = source.replace("torch.load(", "")
        for word in ("import pickle", "torch.load", "import dill", "import marshal", "import shelve", "cloudpickle"):
            assert word not in source, f"{path} mentions {word}"


# Mutated frames are read or refused, and nothing else happens.

HONEST = frames.honest()


def test_mutated_frames():
    assert all(map(frames.survive, HONEST))
    dice, many = random.Random(20), 1_000_000 if THOROUGH else 10_000
    accepted = sum(frames.survive(frames.mutate(dice.choice(HONEST), dice, HONEST)) for _ in range(many))
    assert 0.1 < accepted / many < 0.9  # the mutations bite, and not all of them


WORDS = st.sampled_from(["tensor", "list", "meta", "F32"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=30,
)
FIELDS = st.sampled_from(["error", "names", "value", "gradient", "misshapen", "output"])


@given(JSON, st.dictionaries(FIELDS, JSON, max_size=3))
@settings(max_examples=EXAMPLES, deadline=None)
def test_any_node_and_reply(node, reply):
    with contextlib.suppress(wire.ProtocolError):
        Decoder([wire.RawTensor("F32", (1,), FOUR)]).value(node)
    with contextlib.suppress(ValueError, wire.ProtocolError):  # nan in it, or too large: that was our own encoder
        frames.survive(wire.encode(reply))


def test_descriptors_sent_along_are_not_taken(ends):
    ours, theirs = ends
    before = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    body = HONEST[0]
    with open(os.devnull) as null:
        socket.send_fds(theirs, [framing.frame(7, body)], [null.fileno()] * 50)
        assert framing.Inbox(ours).receive(time.monotonic() + 5) == (7, body)
        if sys.platform == "linux":
            assert len(os.listdir("/proc/self/fd")) == before + 1  # null alone


def test_a_reader_that_stops_reading_does_not_hold_the_grader(ends):
    began = time.monotonic()
    raised(TimeoutError, framing.send_all, ends[0], bytes(48 << 20), began + 0.5)
    assert time.monotonic() - began < 2
