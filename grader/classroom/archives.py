"""Reads archives of strangers without unpacking them: names and sizes are checked, one member is read as bytes.

Nothing is ever written to disk, so no path can leave a folder and no link can be followed. What could still
hurt is size: entries, tables of contents, totals and ratios have limits, and a damaged or encrypted archive is
refused with its reason.

A member inside an archive that lies in an archive (a whole download that holds one archive a student) is named
"ada.zip//context_vectors.py".
"""

import contextlib
import functools
import gzip
import io
import lzma
import os
import stat
import struct
import tarfile
import threading
import time
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from grader import submission
from grader.report.inert import label
from grader.submission import BadSubmission, Submission

SUFFIXES = (".zip", ".tar.gz", ".tgz")
NESTED = "//"  # no path that is looked for has an empty part
MAX_NESTED = 64 << 20  # bytes of an archive inside another
MAX_RATIO, SMALL = 200, 16 << 20  # expanded / packed, for what expands to more than SMALL
CHUNK = 1 << 16
DEEPEST = 24  # folders inside folders
BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, struct.error, EOFError,
    NotImplementedError, RuntimeError, UnicodeError, ValueError, IndexError, OverflowError, MemoryError,
)  # fmt: skip


class BadArchive(BadSubmission):
    """The archive is damaged, encrypted or too large. The text says which."""


@dataclass(frozen=True)
class Bounds:
    """What an archive may hold. table: bytes that are read at once, such as a zip's table of contents."""

    entries: int
    total: int
    table: int


STUDENT = Bounds(entries=20_000, total=1 << 30, table=4 << 20)
DOWNLOAD = Bounds(entries=1_000_000, total=64 << 30, table=256 << 20)


@dataclass(slots=True)
class Node:
    """A file or folder inside an archive. place: its member name, for `read`; kind: as find.Disk's."""

    name: str
    kind: str
    place: str
    member: str
    modified: float = 0.0
    folder: dict[str, "Node"] = field(default_factory=dict)
    download: bool = False

    @property
    def path(self) -> Path:
        """The archive on disk."""
        return Path(self.place)

    def children(self) -> list["Node"]:
        return sorted(self.folder.values(), key=lambda node: node.name)

    def text(self) -> str:
        with _lock:
            return _reader(self.path, "", DOWNLOAD).read(self.member, MAX_NESTED).decode("utf-8", "replace")

    def opened(self, download: bool = False) -> "Node":
        """This archive's own root. Raises BadArchive."""
        if download or not self.download:
            raise BadArchive("an archive inside an archive: unpack it, or hand in its files")
        return tree(self.path, self.member)


def is_archive(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)


def stem(name: str) -> str:
    """The name without the archive's suffix."""
    suffix = next((suffix for suffix in SUFFIXES if name.lower().endswith(suffix)), "")
    return name[: len(name) - len(suffix)]


def tree(path: Path, member: str = "", download: bool = False) -> Node:
    """The folders of an archive; `member`: of the archive inside it. Raises BadArchive, NoSuchFile.

    download: a whole class's, which is larger and may hold one archive a student.
    """
    with _lock:
        members = _reader(path, member, DOWNLOAD if download else STUDENT).members
    prefix = member + NESTED if member else ""
    root = Node(stem((member or path.name).rpartition("/")[2]), "dir", str(path), prefix, download=download)
    for name, entry in members.items():
        parts = [part for part in name.replace("\\", "/").split("/") if part != "."]
        kind = entry.kind
        if kind == "dir" and parts and not parts[-1]:
            parts.pop()
        if not parts or len(parts) > DEEPEST or "" in parts or ".." in parts or ":" in parts[0]:
            parts, kind = [name or "(no name)"], "outside" if parts else "other"
        node = root
        for depth, part in enumerate(parts[:-1], 1):
            if part not in node.folder:
                node.folder[part] = Node(part, "dir", root.place, prefix + "/".join(parts[:depth]), download=download)
            node = node.folder[part]
        known = node.folder.get(parts[-1])
        if known is not None and known.kind == kind == "dir":
            continue  # a file named twice: the later one counts, as when it is unpacked
        inside = prefix + (name if kind != "dir" else name.rstrip("/"))
        node.folder[parts[-1]] = Node(parts[-1], kind, root.place, inside, entry.modified, {}, download)
    return root


def read(path: Path, member: str) -> Submission:
    """One member as a submission. Raises BadSubmission (BadArchive among them) or NoSuchFile."""
    outer, _, inner = member.partition(NESTED)
    with _lock:
        if inner:
            data = _reader(path, outer, STUDENT).read(inner, submission.limit_of(inner))
        else:
            data = _reader(path, "", DOWNLOAD).read(outer, submission.limit_of(outer))
    shown = label(f"{path.name}:{member}")
    return submission.decode(data, shown, submission.is_notebook(member))


@dataclass(frozen=True, slots=True)
class Entry:
    """What an archive says of one member."""

    kind: str  # "dir", "file", "link" or "other"
    size: int
    modified: float


class Zip:
    """A zip file."""

    def __init__(self, file: BinaryIO, bounds: Bounds):
        self.archive = zipfile.ZipFile(Bounded(file, bounds))
        infos = self.archive.infolist()
        _within(bounds, len(infos), sum(info.file_size for info in infos), sum(info.compress_size for info in infos))
        self.members = {info.filename: self._entry(info) for info in infos}

    @staticmethod
    def _entry(info: zipfile.ZipInfo) -> Entry:
        mode = info.external_attr >> 16 if info.create_system == 3 else 0
        kind = "dir" if info.is_dir() else "file"
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
            kind = "link" if stat.S_ISLNK(mode) else "other"
        try:
            modified = time.mktime((*info.date_time, 0, 0, -1))
        except (ValueError, OverflowError):
            modified = 0.0
        return Entry(kind, info.file_size, modified)

    def stream(self, name: str) -> BinaryIO:
        info = self.archive.getinfo(name)
        if info.flag_bits & 1:
            raise BadArchive(f"{label(name)} is encrypted. Hand it in without a password.")
        return self.archive.open(info)


class Tar:
    """A .tar.gz. Its table of contents is read by unpacking all of it, once, up to the limits."""

    def __init__(self, file: BinaryIO, bounds: Bounds):
        packed = file.seek(0, os.SEEK_END)
        file.seek(0)
        self.archive = tarfile.open(fileobj=Bounded(gzip.GzipFile(fileobj=file), bounds, packed), mode="r:")  # noqa: SIM115
        self.infos: dict[str, tarfile.TarInfo] = {}
        for count, info in enumerate(self.archive, 1):
            _within(bounds, count, info.offset_data + info.size, packed)
            self.infos[info.name] = info
        self.members = {name: self._entry(info) for name, info in self.infos.items()}

    @staticmethod
    def _entry(info: tarfile.TarInfo) -> Entry:
        plain = "file" if info.isreg() and not info.issparse() else "dir" if info.isdir() else "other"
        return Entry("link" if info.issym() or info.islnk() else plain, info.size, float(info.mtime))

    def stream(self, name: str) -> BinaryIO:
        return self.archive.extractfile(self.infos[name])


class Bounded(io.RawIOBase):
    """A file that refuses to give more at once, or to go further, than the bounds say."""

    def __init__(self, file: BinaryIO, bounds: Bounds, packed: int | None = None):
        self.file, self.bounds, self.packed = file, bounds, packed

    def read(self, size: int = -1) -> bytes:
        most = self.bounds.table
        everything = size is None or size < 0
        data = self.file.read(most + 1 if everything else min(size, most))
        if len(data) > most or (not everything and size > most):
            raise BadArchive(f"its table of contents is larger than {most >> 20} MB")
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_SET and self.packed is not None:
            _within(self.bounds, 0, offset, self.packed)
        return self.file.seek(offset, whence)

    def tell(self) -> int:
        return self.file.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True


class Reader:
    """One open archive: its members, and `read`."""

    def __init__(self, name: str, file: BinaryIO, bounds: Bounds):
        self.file = file
        with _reasons():
            self.inner = (Zip if name.lower().endswith(".zip") else Tar)(file, bounds)
        self.members = self.inner.members

    def read(self, name: str, limit: int) -> bytes:
        """The bytes of one member, at most `limit`. Raises BadArchive."""
        entry = self.members.get(name)
        if entry is None or entry.kind != "file":
            raise BadArchive(f"there is no file {label(name)} in it")
        too_large = f"{label(name)} is too large: {entry.size / 1e6:.1f} MB, where {limit / 1e6:.2g} MB is the limit."
        if entry.size > limit:
            raise BadArchive(too_large)
        pieces, size = [], 0
        with _reasons(), self.inner.stream(name) as stream:
            while piece := stream.read(CHUNK):
                pieces.append(piece)
                size += len(piece)
                if size > limit:  # the table of contents said less
                    raise BadArchive(too_large)
        return b"".join(pieces)


_lock = threading.RLock()  # an open archive has one position


def _reader(path: Path, member: str, bounds: Bounds) -> Reader:
    facts = os.stat(path)
    return _opened(path, member, bounds, (facts.st_ino, facts.st_size, facts.st_mtime_ns, os.getpid()))


@functools.lru_cache(maxsize=4)  # a student's files are read one after the other
def _opened(path: Path, member: str, bounds: Bounds, version: tuple) -> Reader:
    if not member:
        return Reader(path.name, submission.open_regular(path), bounds)
    data = _opened(path, "", DOWNLOAD, version).read(member, MAX_NESTED)
    return Reader(member, io.BytesIO(data), bounds)


def _within(bounds: Bounds, entries: int, total: int, packed: int) -> None:
    """Raise BadArchive where there is more than the bounds allow."""
    if entries > bounds.entries:
        raise BadArchive(f"it holds more than {bounds.entries:,} entries. Hand in the exercises alone")
    if total > bounds.total:
        raise BadArchive(f"it expands to more than {bounds.total >> 20:,} MB. Hand in the exercises alone")
    if total > SMALL and total > MAX_RATIO * max(packed, 1):
        raise BadArchive(f"it expands more than {MAX_RATIO} times, as zip bombs do. Hand in the exercises alone")


@contextlib.contextmanager
def _reasons():
    """Whatever a broken archive makes the libraries raise becomes a BadArchive with a reason."""
    try:
        yield
    except BadSubmission:
        raise
    except OSError as error:
        raise BadArchive(f"it cannot be read: {error.strerror or 'it is damaged'}") from None
    except BROKEN as error:
        if isinstance(error, RuntimeError) and "password" in str(error):
            raise BadArchive("it is encrypted. Hand it in without a password.") from None
        raise BadArchive(f"it is damaged, or packed in a way that is not understood ({type(error).__name__})") from None
