"""The border: frames and values survive the journey, and nothing else gets through."""

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


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3, 4)], ids=str)
def test_tensors_come_back_as_they_went(dtype, shape):
    tensor = (torch.randn(shape) * 10).to(dtype)
    back = travel(tensor)
    assert back.dtype == dtype and back.shape == tensor.shape
    assert torch.equal(back, tensor)


def test_what_is_said_of_a_tensor():
    tensor = torch.randn(4, 3).T.requires_grad_()
    back = travel(tensor, strides=True)
    assert back.facts == {"device": "cpu", "requires_grad": True} and back.is_contiguous()
    again = travel(tensor, laid_out=True, strides=True)
    assert again.stride() == (1, 3) and torch.equal(again, tensor) and not hasattr(again, "facts")
    assert torch.equal(back, tensor)


@pytest.mark.parametrize(
    "value", [b"", b"\x00two\xff", torch.float16, torch.int64, [torch.bfloat16, {"data": b"1"}]], ids=repr
)
def test_arguments_may_be_bytes_and_dtypes(value):
    assert travel(value, True, strides=True) == value


def test_bytes_in_a_result_are_named_and_not_sent():
    assert travel([b"123", torch.float64]) == [Opaque("bytes"), torch.float64]


def test_nan_and_infinity_are_floats():
    back = travel([math.nan, math.inf, -math.inf])
    assert math.isnan(back[0]) and back[1:] == [math.inf, -math.inf]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (torch.zeros(2).to_sparse(), "a tensor with layout sparse_coo"),
        (torch.zeros(2, dtype=torch.complex64), "a tensor of dtype complex64"),
        (torch.zeros(1).expand(1 << 40), "a tensor of 1,099,511,627,776 elements"),
        (torch.zeros(2).as_subclass(type("Mine", (torch.Tensor,), {})), "a subclass of torch.Tensor"),
        (object(), "an object"),
        (print, "a function"),
        (1 << 70, "a very large int"),
        (3 + 4j, "a complex number"),
    ],
)
def test_what_cannot_cross_is_named(value, words):
    assert travel(value) == Opaque(words)


def test_a_value_that_holds_itself_ends():
    knot = []
    knot.append(knot)
    assert "nested too deeply" in str(travel(knot))


def test_handles_cross_as_numbers():
    assert travel(Handle(3, "Layer")) == Handle(3, "Layer")


def frame(header: object, payload: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + payload


def entries(*tensors: object) -> dict:
    return {"message": {}, "tensors": list(tensors)}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"1234567",
        struct.pack("<Q", 1 << 60),
        struct.pack("<Q", 5) + b"{}",
        frame(b"[" * 100_000),
        frame(b"\xff\xfe"),
        frame([]),
        frame({}),
        frame({"message": {}}),
        frame({"message": 1, "tensors": []}),
        frame({"message": {}, "tensors": {}}),
        frame({"message": {}, "tensors": [], "more": 1}),
        *(
            frame(f'{{"message":{message},"tensors":[]}}'.encode())
            for message in ("[]", "{'a':1}", "1" * 60_000, '{"a":' + "1" * 30 + "}")
        ),
        *(
            frame(f'{{"message":{{{fact}}},"tensors":[]}}'.encode())
            for fact in ('"a":NaN', '"a":1e999', '"a":1,"a":2', '"a":1,"a":1', '"a":"\\ud800"')
        ),
        frame(entries(), b"left over"),
        frame(entries(["F32", [2]]), b"\0" * 4),
        frame(entries(["F32", [-1]]), b"\0" * 4),
        frame(entries(["F32", [True]]), b"\0" * 4),
        frame(entries(["F32", [1.0]]), b"\0" * 4),
        frame(entries(["PICKLE", [1]]), b"\0" * 4),
        frame(entries([["F32"], [1]]), b"\0" * 4),
        frame(entries(["F32", [0, 1 << 62]])),
        frame(entries(["F32", [1] * 99]), b"\0" * 4),
        frame(entries(["F32", [1], "x"]), b"\0" * 4),
        frame(entries("F32"), b"\0" * 4),
        frame(entries(["F32", [1]], ["F32", [1]]), b"\0" * 4),
        frame(entries(["F32", [1]]), b"\0" * 8),
        frame(entries(*[["F32", [0]]] * (wire.MAX_TENSORS + 1))),
    ],
)
def test_a_malformed_body_is_refused(body):
    with pytest.raises(wire.ProtocolError):
        wire.decode(body)


@pytest.mark.parametrize(
    "node",
    [
        {},
        [],
        [1],
        ["pickle", "x"],
        ["tensor", 0, {}],
        ["tensor", -1, {}],
        ["tensor", True, {}],
        ["float", "1"],
        ["list", 3],
        ["dict", [[1]]],
        ["object", "0", "x"],
        ["meta", "F32", [-1]],
        ["meta", "F32", [1 << 40, 1 << 40]],
        ["list", [["list", [["list", [["list", [["list", [["list", [["list", [["list"]]]]]]]]]]]]]]],
    ],
)
def test_a_malformed_value_is_refused(node):
    with pytest.raises(wire.ProtocolError):
        Decoder([]).value(node)


def test_pairs_of_halves_are_whole_characters():
    assert wire.decode(frame(b'{"message":{"a":"\\ud83d\\ude00"},"tensors":[]}'))[0] == {"a": "😀"}


def test_one_deadline_covers_a_frame_that_drips_in():
    ours, theirs = socket.socketpair()
    body = framing.PREFIX.pack(framing.MAGIC, 1, 50)

    def drip():
        for byte in body + b"x" * 50:
            try:
                theirs.sendall(bytes([byte]))
            except OSError:
                return
            time.sleep(0.05)

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    began = time.monotonic()
    with pytest.raises(framing.Deadline):
        framing.Inbox(ours).receive(time.monotonic() + 0.5)
    assert time.monotonic() - began < 2
    ours.close()


@pytest.mark.parametrize("piece", [1, 7, 20, 33, 10_000])
def test_an_inbox_finds_the_frames_however_they_come(piece):
    bodies = [wire.encode({"number": number}) for number in range(5)] + [wire.encode({"long": "x" * 100_000})]
    sent = b"".join(framing.frame(number, body) for number, body in enumerate(bodies))
    ours, theirs = socket.socketpair()
    sender = threading.Thread(
        target=lambda: [theirs.sendall(sent[i : i + piece]) for i in range(0, len(sent), piece)], daemon=True
    )
    sender.start()
    inbox = framing.Inbox(ours)
    for number, body in enumerate(bodies):
        assert inbox.receive(time.monotonic() + 20) == (number, body)
    assert inbox.take() is None
    theirs.close()
    with pytest.raises(framing.Closed):
        inbox.receive(time.monotonic() + 5)


@pytest.mark.parametrize("prefix", [b"EVIL" + bytes(16), framing.PREFIX.pack(framing.MAGIC, 1, 1 << 50)])
def test_an_inbox_refuses_what_is_no_frame_behind_one_that_is(prefix):
    ours, theirs = socket.socketpair()
    theirs.sendall(framing.frame(1, wire.encode({})) + prefix)
    inbox = framing.Inbox(ours)
    inbox.receive(time.monotonic() + 5)
    with pytest.raises(wire.ProtocolError):
        inbox.receive(time.monotonic() + 5)
    with pytest.raises(wire.ProtocolError):
        inbox.take()


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


def test_honest_frames_are_accepted():
    assert all(map(frames.survive, HONEST))


def test_mutated_frames():
    dice, many = random.Random(20), 1_000_000 if THOROUGH else 10_000
    accepted = sum(frames.survive(frames.mutate(dice.choice(HONEST), dice, HONEST)) for _ in range(many))
    assert 0.1 < accepted / many < 0.9  # the mutations bite, and not all of them


@given(st.binary(max_size=400), st.integers(0, 400))
@settings(max_examples=EXAMPLES, deadline=None)
def test_any_bytes(payload, length):
    frames.survive(payload)
    frames.survive(struct.pack("<Q", length) + payload)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["tensor", "list", "meta", "F32"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=30,
)


@given(JSON)
@settings(max_examples=EXAMPLES, deadline=None)
def test_any_node(node):
    try:
        Decoder([wire.RawTensor("F32", (1,), bytes(4))]).value(node)
    except wire.ProtocolError:
        pass


@given(
    st.dictionaries(st.sampled_from(["error", "names", "value", "gradient", "misshapen", "output"]), JSON, max_size=3)
)
@settings(max_examples=EXAMPLES, deadline=None)
def test_any_reply(reply):
    try:
        frames.survive(wire.encode(reply))
    except (ValueError, wire.ProtocolError):  # nan in it, or too large: that was our own encoder
        pass


@pytest.mark.parametrize(
    "node",
    [
        ["list", [["tensor", 0, {}], ["tensor", 0, {}]]],
        ["meta", ["F32"], [1]],
        ["meta", "F32", [0, *[(1 << 31) - 1] * 15]],
        ["meta", {}, []],
    ],
)
def test_small_frames_that_ask_for_much_are_refused(node):
    with pytest.raises(wire.ProtocolError):
        Decoder([wire.RawTensor("F32", (1,), bytes(4))]).value(node)


def test_descriptors_sent_along_are_not_taken():
    ours, theirs = socket.socketpair()
    before = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    body = HONEST[0]
    head = framing.PREFIX.pack(framing.MAGIC, 7, len(body)) + body
    with open(os.devnull) as null:
        socket.send_fds(theirs, [head], [null.fileno()] * 50)
        nonce, got = framing.Inbox(ours).receive(time.monotonic() + 5)
        assert (nonce, bytes(got)) == (7, body)
        if sys.platform == "linux":
            assert len(os.listdir("/proc/self/fd")) == before + 1  # null alone
    ours.close()
    theirs.close()


def test_a_reader_that_stops_reading_does_not_hold_the_grader():
    ours, theirs = socket.socketpair()
    began = time.monotonic()
    with pytest.raises(framing.Deadline):
        framing.send_all(ours, bytes(48 << 20), began + 0.5)
    assert time.monotonic() - began < 2
    ours.close()
    theirs.close()
