"""Mutated frames are read or refused, and nothing else happens. The long run is fuzz_wire.py."""

import os
import random
import socket
import struct
import sys
import time

import frames
import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed (extra dev)")

from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import THOROUGH

from grader.worker import framing, wire
from grader.worker.codec import Decoder

HONEST = frames.honest()
EXAMPLES = 300 if THOROUGH else 100


def test_honest_frames_are_accepted():
    assert all(map(frames.survive, HONEST))


def test_ten_thousand_mutated_frames():
    dice = random.Random(20)
    accepted = sum(frames.survive(frames.mutate(dice.choice(HONEST), dice, HONEST)) for _ in range(10_000))
    assert 1_000 < accepted < 9_000  # the mutations bite, and not all of them


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


@pytest.mark.parametrize(
    "message",
    ['{"a":1e999}', '{"a":"\\ud800"}', '{"a":' + "1" * 30 + "}", '{"a":1,"a":1}', '{"a":NaN}', "[]", "{'a':1}"],
)
def test_json_is_read_strictly(message):
    text = f'{{"message":{message},"tensors":[]}}'.encode()
    with pytest.raises(wire.ProtocolError):
        wire.decode(struct.pack("<Q", len(text)) + text)


def test_pairs_of_halves_are_whole_characters():
    text = b'{"message":{"a":"\\ud83d\\ude00"},"tensors":[]}'
    assert wire.decode(struct.pack("<Q", len(text)) + text)[0] == {"a": "😀"}


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
