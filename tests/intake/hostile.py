"""Hand-ins of strangers, made up: names, archives, notebooks and sources that no honest student hands in.

Everything is drawn from a `random.Random`, or from what hypothesis offers in its place.
"""

import gzip
import json
import struct
import zipfile
from random import Random

from bombs import tgz, zipped

NAMES = (
    "context_vectors", "03_context_vectors", "softmax_naive", "02", "ex3", "kata", "test_", "submitted",
    "exercises", "grades.csv", "class.html", "con", "..", ".", "/", "//", "\\", ":", "_", "-1", " (1)",
    "_123_assignsubmission_file_", "_assignsubmission_onlinetext", "_LATE", "_12_34_", "submission_1",
    ".py", ".ipynb", ".zip", ".tar.gz", "0", "1", " ", "\n", "\r", "\t", "\0", "\x1b[31m", "\u202e",
    "\u2066", "\u2028", "\udcff", "\udc80", "\ud800", "é", "e\u0301", "ı", "İ", "ß", "ﬁ", "\ufdfa", "字",
    "😀", "\ufeff", "\u200b", "=cmd()", "<b>", "[red]", "'", '"', "%s", "{x}", "::error ",
    "submission_metadata.yml", "__MACOSX", "a", "z",
)  # fmt: skip
PIECES = (
    "a,", "a=", "a;", "x=1\n", "x: int\n", "(", ")", "[", "]", "{", "}", "-", "not ", "~", "a+", "a**",
    ".a", "()", "[a]", "a<", "a or ", "a if a else ", "lambda:", "lambda x=", "if a:a\n", "elif a:a\n",
    "else:\n", "@a\n", "def f():0\n", "def f(a):\n return a\n", "class A:0\n", "f'{a}'\n", "f'{a:{b}}'",
    "{a}", "'", '"', '"""', "9", "0x", "e9", "'a' ", "\u1d2c,", "ﬁ", "a:a,", "match a:\n", " case a:0\n",
    "1|", "\f", "\r", "\\\n", "\t", " ", "    ", "\n", "#", "# c\n", "global a\n", "*a,", "a=1,",
    "try:0\nexcept:0\n", "import torch\n", "import torch as t\n", "from torch import *\n",
    "from a import a\n", "torch.", "softmax(", ".softmax(x)\n", "getattr(a,'a')", "exec('')\n",
    "__import__('gc')\n", "async ", "await ", "yield ", "a:=1", "->", "...", "\ud800", "\udcff", "\0",
    "\u202e", "é", "😀", "a", "0", "%%bash\n", "!ls\n", "%time a\n", "a?\n", "type X = int\n",
    "with a as b:0\n", "for a in a:\n", "while 1:\n", "return\n", "print ",
)  # fmt: skip
SHAPES = (
    '{"cells":', '{"cell_type":"code","source":', "[", "]", "{", "}", ",", ":", '""', '"a"', '"\\ud800"',
    "null", "1e999", "-", "1" * 5000, "NaN", "true", '{"":', "0.1,", '["a\\n"]', '"source"', "\\u0000",
    "{},", "[],", '"',
)  # fmt: skip
MOST = 300 << 10  # characters that a piece is repeated to; a legal source has 256 KB


def name(dice: Random) -> str:
    return _joined(dice, NAMES, 400 if dice.random() < 0.95 else 70_000)


def source(dice: Random) -> str:
    return _joined(dice, PIECES, 2_000 if dice.random() < 0.99 else MOST)


def notebook(dice: Random) -> bytes:
    """A notebook's bytes: of well-formed cells, or of JSON that is put together."""
    kind = dice.random()
    if kind < 0.3:
        data = _joined(dice, SHAPES, 5_000 if dice.random() < 0.97 else MOST).encode("utf-8", "replace")
    else:
        cells = [_cell(dice) for _ in range(dice.choice((0, 1, 1, 2, 3, 50)))]
        data = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()
    return mutated(data, dice) if dice.random() < 0.3 else data


def archive(dice: Random) -> tuple[str, bytes]:
    """The name and bytes of an archive, sound or not."""
    suffix, make = dice.choice(((".zip", _zip), (".tgz", _tgz)))
    data = make(dice, [(called, _content(dice, called)) for called in _members(dice)])
    data = mutated(data, dice) if dice.random() < 0.4 else data
    return f"a{suffix}" if dice.random() < 0.9 else dice.choice(("a.zip", "a.tar.gz", "a.tgz")), data


def mutated(data: bytes, dice: Random) -> bytes:
    """The bytes with a few changed, lost or doubled."""
    data = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 5, 20))):
        at = dice.randrange(len(data) + 1)
        kind = dice.randrange(5)
        if kind == 0:
            data[at : at + 1] = bytes([dice.randrange(256)])
        elif kind == 1:
            del data[at : at + dice.choice((1, 4, 100))]
        elif kind == 2:
            data[at : at + 4] = struct.pack("<I", dice.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF, dice.randrange(1 << 32))))
        elif kind == 3:
            data[at:at] = data[at : at + dice.choice((1, 46, 512))]
        else:
            data[at : at + 1] = b"\xff\x00\x80\n"
    return bytes(data)


def _joined(dice: Random, pieces: tuple[str, ...], most: int) -> str:
    parts, length = [], 0
    for _ in range(dice.choice((1, 2, 3, 5, 12))):
        part = dice.choice(pieces)
        many = dice.choice((1, 1, 1, 1, 2, 20, most // len(part)))
        parts.append(part * many)
        length += len(parts[-1])
    return "".join(parts)[:most]


def _cell(dice: Random):
    kind = dice.random()
    if kind < 0.05:
        return dice.choice((None, 1, [], "a", {}, {"cell_type": "code"}, {"cell_type": [], "source": ""}))
    text = source(dice)
    lines = text if dice.random() < 0.5 else dice.choice((text.splitlines(True), [text, 1], {text: 1}, None, 1.5))
    return {"cell_type": dice.choice(("code", "code", "markdown", "")), "source": lines, "metadata": {}, "outputs": []}


def _content(dice: Random, called: str) -> bytes:
    data = notebook(dice) if called.endswith(".ipynb") else source(dice).encode("utf-8", "replace")
    return dice.choice((data, b"", bytes(100_000), data * 20) if dice.random() < 0.03 else (data,))


def _members(dice: Random) -> list[str]:
    names = [name(dice)[: dice.choice((60, 300, 3000))] for _ in range(dice.choice((0, 1, 2, 4)))]
    names += [dice.choice(("context_vectors.py", "03/context_vectors.ipynb", "a/../b.py", "/etc/a.py", "b.zip"))]
    return [called.encode("utf-8", "replace").decode() for called in names * dice.choice((1, 1, 1, 2, 40))]


def _zip(dice: Random, members: list[tuple[str, bytes]]) -> bytes:
    infos = {called: zipfile.ZipInfo(called) for called, _ in members}  # each once, else zipfile warns
    for info in infos.values():
        info.external_attr = dice.choice((0, 0, 0o120777 << 16, 0o100644 << 16, 0o20644 << 16, 0x10))
        info.compress_type = dice.choice((0, 8, 8, 8, 12, 14)) if dice.random() < 0.2 else 8
    return zipped(*((info, dict(members)[called]) for called, info in infos.items()))


def _tgz(dice: Random, members: list[tuple[str, bytes]]) -> bytes:
    entries = []
    for called, data in members:
        kind = dice.choice((b"0", b"0", b"0", b"0", b"1", b"2", b"3", b"5", b"6", b"S", b"g", b"x", b"L", b"?"))
        facts = {"type": kind, "linkname": dice.choice(("", "/etc/passwd", "../a", called[:50]))}
        if dice.random() < 0.1:
            facts["pax_headers"] = {f"a{i}": "b" * dice.choice((1, 9_000)) for i in range(dice.choice((1, 30)))}
        entries.append((called.replace("\0", ""), data, facts))
    data = tgz(*entries, tail=bytes(30 << 20) if dice.random() < 0.005 else b"")
    if dice.random() < 0.3:  # within what is compressed, whose sum stays right
        data = gzip.compress(mutated(gzip.decompress(data), dice), 1)
    return data * dice.choice((1, 1, 1, 1, 1, 1, 1, 3))
