"""Hand-ins that take much of whoever reads them: sources, notebooks and archives, each with its name."""

import gzip
import io
import json
import stat
import struct
import sys
import tarfile
import zipfile

from thorough import THOROUGH

from grader.catalog import paths

FOLDER, FILE = "02_softmax_naive", "softmax_naive.py"
NAME, MEMBERS = (8, 300_000) if THOROUGH else (2, 60_000)  # mebibytes of a name in an archive, parts of one
HONEST = paths.solution(FOLDER).read_text("utf-8")


def notebook(*cells, more: str = "") -> bytes:
    made = [{"cell_type": "code", "source": cell} for cell in cells]
    return (json.dumps({"cells": made})[:-1] + more + "}").encode()


QUADRATIC = "x = f'" + "{a}" * 80_000 + "'"  # for the parser of Python up to 3.11
BOMBS = {
    "more than a legal source holds": "a;" * 400_000,
    "a long chain": "x = a" + ".a" * 100_000,
    "a deep expression": "x = " + "-" * 200_000 + "1",
    "a long sum": "x = " + "a+" * 100_000 + "a",
}
if sys.version_info < (3, 12):
    BOMBS["a quadratic f-string"] = QUADRATIC

NOTEBOOKS = {
    "half a character": (notebook("x = '\ud800'"), "half a character"),
    "a NUL": (notebook("x = '\0'"), "NUL"),
    "too much code": (notebook("x = 1\n" * 100_000), "too much code"),
    "too much code in many cells": (notebook(*["x = 1\n"] * 30_000), "too much code"),
    "a long sum": (notebook(BOMBS["a long sum"]), "1 s or 200 MB"),
    "magics that make it too large": (notebook("%a\n" * 60_000), "too much code"),
    "empty lists": (b'{"cells":[' + b"[]," * 5_000_000 + b"[]]}", "not a notebook|200 MB"),
    "many objects": (b'{"cells":[], "a":[' + b'{"":0},' * 2_000_000 + b"0]}", "200 MB|empty"),
    "nesting": (b'{"cells":' + b"[" * 100_000, "not a notebook"),
    "a long number": (notebook("x = 1", more=', "n": ' + "9" * 100_000), "not a notebook"),
    "cells that are none": (b'{"cells": [1, null, "a"]}', "not a notebook"),
    "a dict for a source": (notebook({"x = 1": 1}), "not a notebook"),
    "numbers for lines": (notebook(["x = 1", 1]), "not a notebook"),
}


def tgz(*members: tuple[str, bytes, dict], tail: bytes = b"") -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as packed:
        for name, data, facts in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for key, value in facts.items():
                setattr(info, key, value)
            packed.addfile(info, io.BytesIO(data))
    return gzip.compress(file.getvalue() + tail, 1)


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as packed:
        for name, data in members:
            packed.writestr(name, data)
    return file.getvalue()


def _pax_bomb() -> bytes:
    """Global headers with many keys, of which each member's header gets a copy."""
    headers = [
        ("g", "".join(_record(f"k{n}_{i}") for i in range(20_000)).encode(), {"type": tarfile.XGLTYPE})
        for n in range(20)
    ]
    own = [("x", _record("a").encode(), {"type": tarfile.XHDTYPE}) for _ in range(100)]
    return tgz(*headers, *own, ("softmax_naive.py", HONEST.encode(), {}))


def _long_number() -> bytes:
    """Headers with long numbers: the patterns of tarfile in Python 3.11 take quadratic time for them."""
    number = f"a={'1' * (1 << 19)}\n"
    header = f"{len(number) + 7} {number}".encode()
    own = [("x", header, {"type": tarfile.XHDTYPE}), ("softmax_naive.py", HONEST.encode(), {})]
    return tgz(("g", header, {"type": tarfile.XGLTYPE}), *own)


def _record(key: str) -> str:
    text = f" {key}=\n"
    return f"{len(text) + (1 if len(text) < 9 else 2)}{text}"


def _small_claim(data: bytes) -> bytes:
    """The zip with its members' sizes said to be small."""
    size = struct.pack("<I", zipfile.ZipFile(io.BytesIO(data)).infolist()[0].file_size)
    return data.replace(size, struct.pack("<I", 1000))


def _encrypted(data: bytes) -> bytes:
    changed = bytearray(data)
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        changed[changed.index(mark) + offset] |= 1
    return bytes(changed)


def _one_bit_off(data: bytes) -> bytes:
    changed = bytearray(data)
    changed[30 + len(FILE) + 4] ^= 1
    return bytes(changed)


def _link() -> bytes:
    info = zipfile.ZipInfo(FILE)
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return zipped((info, b"/etc/passwd"))


def _special(kind: bytes) -> bytes:
    """A tar of one member that is no file."""
    return tgz((FILE, b"", {"type": kind, "linkname": "/etc/passwd"}))


ONE = (FILE, HONEST.encode())
ZEROS = (FILE, bytes(32 << 20))
ARCHIVES = {  # with a pattern of what is told of it, where every Python tells the same
    "not-utf-8.tgz": (lambda: tgz(("a\udcff/softmax_naive.py", HONEST.encode(), {})), ""),
    "revisions.zip": (lambda: zipped(("-1" * 30_000 + ".py", b"x")), "longer than 255 bytes"),
    "a-long-name.zip": (lambda: zipped(("é" * 130 + "/softmax_naive.py", b"x"), ONE), "longer than 255 bytes"),
    "pax.tgz": (_pax_bomb, ""),
    "a-number.tgz": (_long_number, ""),
    "no-records.tgz": (
        lambda: tgz(("x", b"4 x\n" * 200_000 + b"=", {"type": tarfile.XHDTYPE}), ("a.py", b"x", {})),
        "",
    ),
    "gzip-name.tgz": (lambda: b"\x1f\x8b\x08\x08" + b"\0" * 6 + b"a" * (NAME << 20), ""),
    "gzip-members.tgz": (lambda: gzip.compress(b"") * MEMBERS, ""),
    "zeros.tgz": (lambda: tgz(("a", b"", {}), tail=b"\0" * (64 << 20)), ""),
    "bzip2.zip": (lambda: _small_claim(zipped((FILE, b"\0" * (40 << 20)), method=zipfile.ZIP_BZIP2)), "a rare way"),
    "entries.zip": (lambda: zipped(*((f"{i}", b"") for i in range(21_000))), "more than 20,000 entries"),
    "folders.tgz": (lambda: tgz(*((f"{i}" + "/a" * 20, b"", {}) for i in range(2_000))), "more than 20,000 entries"),
    "link.zip": (_link, "links are not followed"),
    "links.tgz": (lambda: _special(tarfile.SYMTYPE), "links are not followed"),
    "hard-links.tgz": (lambda: _special(tarfile.LNKTYPE), "links are not followed"),
    "device.tgz": (lambda: _special(tarfile.CHRTYPE), "."),
    "paths.zip": (lambda: zipped(("/etc/softmax_naive.py", b"x"), ("../softmax_naive.py", b"x")), "leads out of the"),
    "nested.zip": (lambda: zipped(("a.zip", zipped(ONE))), "an archive inside an archive"),
    "surrogate.zip": (lambda: zipped(("softmax_naive.ipynb", notebook("x = '\ud800'"))), "half a character"),
    "bomb.zip": (lambda: zipped((FILE, QUADRATIC.encode())), ""),
    "ratio.zip": (lambda: zipped(ZEROS), "zip bombs"),
    "ratio.tgz": (lambda: tgz((*ZEROS, {})), "zip bombs"),
    "header.tgz": (lambda: tgz(("x" * (8 << 20), b"", {})), "table of contents"),
    "large.zip": (lambda: zipped((FILE, b"# " + b"x" * (1 << 20))), r"too large: 1\.0 MB"),
    "a-size-that-lies.zip": (lambda: _small_claim(zipped((FILE, b"x" * (1 << 20)))), "."),
    "cut.zip": (lambda: zipped(ONE)[:-30], "is damaged"),
    "cut.tgz": (lambda: tgz((*ONE, {}))[:400], "is damaged"),
    "empty.zip": (lambda: b"", "."),
    "one-bit-off.zip": (lambda: _one_bit_off(zipped(ONE)), "."),
    "encrypted.zip": (lambda: _encrypted(zipped(ONE)), "encrypted"),
}
