"""Frames to break: honest ones of every kind, and what a hostile worker might do to them.

`survive` is the property: a body is decoded to plain data, or refused with ProtocolError, quickly and
without asking for much memory. Anything else is a bug.
"""

import copy
import json
import random
import struct

import torch

from grader.worker import protocol, wire
from grader.worker.codec import Decoder, Encoder, Handle, Opaque
from grader.worker.protocol import Reply
from grader.worker.wire import ProtocolError

NASTY = [
    "1e999", "-1e999", "NaN", "Infinity", "-0", "-0.0", "1" * 25, "9" * 5000, "1e-999", "true", "null", '"\\ud800"',
    '"\\udfff\\ud800"', '"\\u0000"', '"' + "x" * 3000 + '"', "[]", "{}", "[[[[[[[[]]]]]]]]", "[" * 200 + "]" * 200,
    "-1", "0", "4294967296", "9223372036854775807", "9223372036854775808", '["tensor",0,{}]', '["float","nan"]',
    '["meta",["F32"],[1]]', '["meta","F32",[1,0,268435456,268435456,268435456]]', '["object",0,"x"]', '["dict",[[1]]]',
    '["dict",[[["list",[]],1]]]', '["opaque",""]', '"F32"', '"message"', '"value"', '{"a":1,"a":2}', "1.5",
]  # fmt: skip

VALUES = [
    None, True, False, 0, 1, -1, 2, 3.5, 1 << 31, 1 << 62, 1 << 63, -(1 << 63), 10**18, "", "x", "F32", "BOOL", "list",
    "tensor", "nan", "\ud800", "\x00", "\u202e", "x" * 25_000, [], {}, [[]], [0], [1, 0], [0, 4], [1 << 28] * 3,
    [0] * 17, ["tensor", 0, {}], ["tensor", 1, {"stride": [0, -1]}], ["tensor", 0, {"device": [], "requires_grad": 1}],
    ["float", "-inf"], ["meta", "F32", [2, 3]], ["meta", "F32", [0, 1 << 30, 1 << 30, 1 << 30]], ["meta", {}, []],
    ["object", 1 << 40, "X"], ["dict", [[["list", []], 1], [1, 2]]], ["opaque", "a" * 500],
    ["tuple", [1, ["list", []]]],
    ["dict", [[["float", "nan"], 0]]], ["dict", [[["tensor", 0, {}], 0]]],
    ["I8", []],
]  # fmt: skip


def honest() -> list[bytes]:
    """One body of each kind that a worker sends."""
    layer = {"parameters": {"W": torch.randn(2, 3)}, "modules": {"": "Module"}, "training": True}
    values = [
        None, 1, -2.5, "text", True, [1, (2, "x")], {"a": torch.ones(2), 3: None}, float("nan"), float("inf"),
        torch.randn(3, 4), torch.zeros(0, 5), torch.tensor(7), torch.ones(2, dtype=torch.bool), torch.ones(2).half(),
        [torch.arange(4), torch.arange(3.0)], Opaque("a set"), Handle(3, "Layer"), torch.empty(2, device="meta"), layer,
    ]  # fmt: skip
    bodies = []
    for value in values:
        encoder = Encoder(strides=True)
        bodies.append(wire.encode({"value": encoder.node(value), "output": "x\n"}, encoder.tensors))
    error = {"type": "E", "bases": ["E"], "message": "é\u2028", "missing_module": None, "frames": [[1, "f", "x = 1"]]}
    replies = [
        Reply(error=error),
        Reply(names=["f"]),
        Reply(missing="f"),
        Reply(signature="f()"),
        Reply(gradient="none"),
    ]
    replies.append(Reply(1, operations=[["mm", [[2, 3], [3, 4]], [[2, 4]]], ["ones", [], [[]]]], unrecorded="too many"))
    replies.append(Reply(unknown=["a"], misshapen=[["b", [2], [3, 4]]], surplus=[]))
    return [*bodies, *map(protocol.encode_reply, replies)]


def mutate(body: bytes, dice: random.Random, others: list[bytes]) -> bytes:
    """A body with one to four things wrong with it: mostly in its values, sometimes in its bytes."""
    if dice.random() < 0.7:
        body = _in_values(body, dice, dice.choice(others))
    if dice.random() < 0.2:
        body = _in_text(body, dice)
    return _in_bytes(body, dice, dice.choice(others)) if dice.random() < 0.3 else body


def survive(body: bytes) -> bool:
    """Decode as the grader does. Whether it was accepted; raises what is neither that nor a refusal."""
    try:
        reply, tensors = protocol.decode_reply(body)
        value = Decoder(tensors).value(reply.value)
    except ProtocolError:
        return False
    repr(reply).encode()  # whatever was accepted can be shown
    _walk(value)
    return True


def _parts(body: bytes) -> tuple[dict, bytes]:
    (length,) = struct.unpack_from("<Q", body)
    return json.loads(body[8 : 8 + length]), body[8 + length :]


def _joined(header: dict, payload: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + payload


def _in_values(body: bytes, dice: random.Random, other: bytes) -> bytes:
    """Change the message, or the list of tensors, as a tree: all stays well-formed JSON."""
    header, payload = _parts(body)
    donor = _parts(other)[0]["message"]
    for _ in range(dice.choice((1, 1, 2, 4))):
        message = header.get("message")
        _change(message if dice.random() < 0.85 and isinstance(message, dict) else header, dice, donor)
    return _joined(header, payload)


def _change(tree, dice: random.Random, donor) -> None:
    """Replace, drop, double or wrap one part somewhere below a list or dict."""
    while True:
        places = list(tree) if isinstance(tree, dict) else range(len(tree))
        if not places:
            return
        place = dice.choice(places)
        if isinstance(tree[place], (list, dict)) and tree[place] and dice.random() < 0.7:
            tree = tree[place]
            continue
        kind = dice.randrange(6)
        if kind == 0:
            del tree[place]
        elif kind == 1 and isinstance(tree, list):
            tree.insert(place, copy.deepcopy(tree[place]))
        elif kind == 2:
            tree[place] = dice.choice((["list", [tree[place]]], [tree[place]], {"a": tree[place]}))
        elif kind == 3:
            tree[place] = copy.deepcopy(dice.choice(list(donor.values())))
        else:
            tree[place] = copy.deepcopy(dice.choice(VALUES))
        return


def _in_text(body: bytes, dice: random.Random) -> bytes:
    """Put something nasty where a token of the header was; lengths stay right."""
    header, payload = _parts(body)
    text = json.dumps(header)
    cuts = [i for i, letter in enumerate(text) if letter in '[]{},:"']
    start = dice.choice(cuts)
    end = dice.choice([cut for cut in cuts if cut >= start][:4])
    new = (text[: start + 1] + dice.choice(NASTY) + text[end + dice.randrange(2) :]).encode(errors="surrogatepass")
    return struct.pack("<Q", len(new)) + new + payload


def _in_bytes(body: bytes, dice: random.Random, other: bytes) -> bytes:
    body = bytearray(body)
    at, kind = dice.randrange(len(body) + 1), dice.randrange(5)
    if kind == 0:
        body[at % len(body)] ^= 1 << dice.randrange(8)
    elif kind == 1:
        body[at:at] = dice.randbytes(dice.choice((1, 2, 8)))
    elif kind == 2:
        del body[at : at + dice.choice((1, 2, 8, 40))]
    elif kind == 3:
        body[:8] = struct.pack("<Q", dice.choice((0, 1, len(body), dice.getrandbits(20), dice.getrandbits(64))))
    else:
        body[at:] = other[dice.randrange(len(other)) :]
    return bytes(body)


def _walk(value) -> None:
    """Everything in a decoded value is of a type that cannot execute."""
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, (list, tuple)):
        for item in value:
            _walk(item)
        return
    if isinstance(value, torch.Tensor):
        assert type(value) is torch.Tensor
        assert value.is_meta or value.numel() * value.element_size() <= wire.MAX_PAYLOAD
        return
    assert value is None or type(value) in (bool, int, float, str, Opaque, Handle), type(value)
    assert type(value) is not str or value.encode() is not None
