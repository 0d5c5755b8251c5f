"""Reads strangers' archives without unpacking them: checks names and sizes, and reads one member as bytes.

Nothing is written to disk, so no path can leave a folder and no link can be followed. Entries, tables of contents,
totals and ratios have limits, and a damaged or encrypted archive is refused with its reason. A student's archive is
read in the helper process (grader/records/limited.py), because a few kilobytes can keep the libraries busy without end.
A platform's download, which may be large, is read in this process.

A member of an archive that itself lies in an archive (a download that holds one archive for each student) is named
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
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, replace
from typing import IO, BinaryIO, NamedTuple, cast

from grader.catalog.errors import BadSubmission
from grader.classroom.intake import beneath
from grader.classroom.intake.beneath import MAX_NAME, is_too_long
from grader.records import safe_files, submission
from grader.records.limited import TooMuch, limited
from grader.records.sanitize import label
from grader.records.submission import Submission

SMALL = 16 << 20  # bytes to which every archive may expand
BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, struct.error, EOFError,
    NotImplementedError, RuntimeError, UnicodeError, ValueError, IndexError, OverflowError, MemoryError,
)  # fmt: skip
TOTAL, READ = 4 << 30, 1 << 20  # bytes: of the content of any archive, and of one header
CHUNK = 1 << 16  # bytes that are read at once
SUFFIXES = (".zip", ".tar.gz", ".tgz")
NESTED = "//"  # separates two archives; no path of a member has an empty part
MAX_PACKED = 64 << 20  # bytes of a student's archive
DEEPEST = 24  # folders below one another
Listing = list[tuple]  # the members, see `_listed`


class BadArchive(BadSubmission):
    """The archive is damaged, encrypted or too large. The text says which."""


@dataclass(frozen=True)
class Bounds:
    """The limits of an archive. entries, total: the most entries and expanded bytes.

    table: the most bytes of one read, as of a zip's table of contents; ratio: the most expanded bytes for each packed
    byte, in an archive that expands to more than SMALL; 0 sets no limit. A class's download has no ratio, because one
    student's file of zeros would cause the refusal of all others. There each member has its own limit.
    """

    entries: int
    total: int
    table: int
    ratio: int = 0


class Facts(NamedTuple):
    """What an archive states about one member. size: in bytes; modified: seconds since 1970."""

    kind: str  # "dir", "file", "link" or "other"
    size: int
    modified: float


class Bounded(io.RawIOBase):
    """A file that raises BadArchive for a read or a seek beyond the bounds. packed: the bytes of the packed file."""

    def __init__(self, file: BinaryIO, bounds: Bounds, packed: int | None = None) -> None:
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
            within(self.bounds, 0, offset, self.packed)
        return self.file.seek(offset, whence)

    def tell(self) -> int:
        return self.file.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True


def within(bounds: Bounds, entries: int, total: int, packed: int) -> None:
    """Raise BadArchive where entries, total bytes or the ratio of total to packed bytes exceed the bounds."""
    if entries > bounds.entries:
        raise BadArchive(f"it holds more than {bounds.entries:,} entries. Hand in the exercises alone")
    if total > bounds.total:
        raise BadArchive(f"it expands to more than {bounds.total >> 20:,} MB. Hand in the exercises alone")
    if bounds.ratio and total > SMALL and total > bounds.ratio * max(packed, 1):
        raise BadArchive(f"it expands more than {bounds.ratio} times, as zip bombs do. Hand in the exercises alone")


@contextlib.contextmanager
def reasons() -> Iterator[None]:
    """Turn every exception that the libraries raise for a damaged archive into a BadArchive with a reason."""
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


class Reader:
    """One open archive. members: by name. Raises BadArchive where it is damaged or exceeds the bounds."""

    def __init__(self, name: str, file: BinaryIO, bounds: Bounds) -> None:
        self.file = file
        self.members: dict[str, Facts] = {}
        with reasons():
            self._stream = (self._open_zip if name.lower().endswith(".zip") else self._open_tar)(bounds)

    def read(self, name: str, limit: int) -> bytes:
        """The bytes of one member, at most `limit`. Raises BadArchive where it is larger, absent or damaged."""
        entry = self.members.get(name)
        if entry is None or entry.kind != "file":
            raise BadArchive(f"there is no file {label(name)} in it")
        chunks, size = [], entry.size
        if size <= limit:
            size = 0
            with reasons(), self._stream(name) as stream:
                while size <= limit and (chunk := stream.read(CHUNK)):  # the stated size may be a lie
                    chunks.append(chunk)
                    size += len(chunk)
        if size > limit:
            limits = f"{size / 1e6:.1f} MB, where {limit / 1e6:.2g} MB is the limit."
            raise BadArchive(f"{label(name)} is too large: {limits}")
        return b"".join(chunks)

    def _open_tar(self, bounds: Bounds) -> Callable[[str], IO[bytes]]:
        """A .tar.gz. To read its table of contents, all of it is unpacked once, up to the limits."""
        packed = self.file.seek(0, os.SEEK_END)
        self.file.seek(0)
        bounds = replace(bounds, total=min(bounds.total, TOTAL), table=min(bounds.table, READ))
        content = Bounded(cast(BinaryIO, gzip.GzipFile(fileobj=self.file)), bounds, packed)
        archive = tarfile.open(fileobj=content, mode="r:")  # noqa: SIM115
        infos = {}
        for count, info in enumerate(archive, 1):
            within(bounds, count, info.offset_data + info.size, packed)
            kind = "file" if info.isreg() and not info.issparse() else "dir" if info.isdir() else "other"
            kind = "link" if info.issym() or info.islnk() else kind
            infos[info.name], self.members[info.name] = info, Facts(kind, info.size, float(info.mtime))
        return lambda name: cast(IO[bytes], archive.extractfile(infos[name]))

    def _open_zip(self, bounds: Bounds) -> Callable[[str], IO[bytes]]:
        archive = zipfile.ZipFile(Bounded(self.file, bounds))
        infos = archive.infolist()
        within(bounds, len(infos), sum(info.file_size for info in infos), sum(info.compress_size for info in infos))
        for info in infos:
            mode = info.external_attr >> 16 if info.create_system == 3 else 0
            kind = "dir" if info.is_dir() else "file"
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                kind = "link" if stat.S_ISLNK(mode) else "other"
            try:
                modified = time.mktime((*info.date_time, 0, 0, -1))
            except (ValueError, OverflowError):
                modified = 0.0
            self.members[info.filename] = Facts(kind, info.file_size, modified)

        def stream(name: str) -> IO[bytes]:
            info = archive.getinfo(name)
            if info.flag_bits & 1:
                raise BadArchive(f"{label(name)} is encrypted. Hand it in without a password.")
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others have no limits
                raise BadArchive(
                    f"{label(name)} is packed in a rare way. Make the zip again with the usual one, Deflate."
                )
            return archive.open(info)

        return stream


DOWNLOAD = Bounds(entries=1_000_000, total=64 << 30, table=256 << 20)
STUDENT = Bounds(entries=20_000, total=1 << 30, table=4 << 20, ratio=200)
downloads: set[str] = set()  # the places of those that were opened so far


def in_download(place: str) -> Reader:
    """The reader of a download of a class. Raises BadArchive and NoSuchFile."""
    downloads.add(place)
    with beneath.reasons(place):
        facts = beneath.facts(place)
    return _reader_of_version(place, (facts.st_ino, facts.st_size, facts.st_mtime_ns))


@functools.lru_cache(maxsize=4)
def _reader_of_version(place: str, version: tuple[int, ...]) -> Reader:
    return Reader(os.path.basename(place), beneath.open_file(place), DOWNLOAD)


@dataclass(slots=True)
class Node:
    """A file or a folder, on disk or in an archive.

    kind: "dir", "file", "link", "other" (pipes, devices), "long" for a name of more than beneath.MAX_NAME bytes, or
    "outside" (an archive's absolute path, or ".."); place: of the file, or of the archive; member: its name there, ""
    on disk; folder: the entries of a folder in an archive; download: it is in an archive that holds a class.
    """

    name: str
    kind: str
    place: str
    member: str = ""
    time: float = 0.0
    folder: dict[str, "Node"] | None = None
    download: bool = False

    @property
    def modified(self) -> float:
        """Seconds since 1970; 0 if they cannot be read."""
        with contextlib.suppress(OSError):
            return self.time if self.member else beneath.facts(self.place).st_mtime
        return 0.0

    def children(self) -> list["Node"]:
        """The entries of the folder in the order of their names. Raises OSError."""
        if self.folder is not None:
            return sorted(self.folder.values(), key=lambda node: node.name)
        return [
            Node(name, "long" if is_too_long(name) else kind, beneath.join(self.place, name))
            for name, kind in sorted(beneath.entries(self.place))
        ]

    def text(self) -> str:
        """The content as UTF-8 text. Raises NoSuchFile or BadSubmission."""
        return _packed(self.place, self.member).decode("utf-8", "replace")

    def open(self, download: bool = False) -> "Node":
        """The root of this archive. download: whether it holds a whole class. Raises BadArchive."""
        if self.member and (download or not self.download):
            raise BadArchive("an archive inside an archive: unpack it, or hand in its files")
        return tree(self.place, self.member, download)


def is_archive(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)


def stem(name: str) -> str:
    suffix = next((suffix for suffix in SUFFIXES if name.lower().endswith(suffix)), "")
    return name[: len(name) - len(suffix)]


def tree(place: str, member: str = "", download: bool = False) -> Node:
    """The folders of the archive at this place (see `beneath`), or of the archive that is its member.

    download: whether it holds a whole class; then it may be larger, and hold an archive for each student. Raises
    BadArchive and NoSuchFile.
    """
    bounds = DOWNLOAD if download else STUDENT
    if download:
        members = in_download(place).members
    else:
        with beneath.reasons(place):
            changed = beneath.facts(place).st_mtime_ns
        listing = _listing(place, member, changed)
        if isinstance(listing, str):
            raise BadArchive(listing)
        members = {name: Facts(*facts) for name, *facts in listing}
    count = 0
    prefix = member + NESTED if member else ""
    top: dict[str, Node] = {}
    for name, entry in members.items():
        parts = [part for part in name.replace("\\", "/").split("/") if part != "."]
        kind = entry.kind
        if kind == "dir" and parts and not parts[-1]:
            parts.pop()
        if not parts or len(parts) > DEEPEST or "" in parts or ".." in parts or ":" in parts[0]:
            parts, kind = [name or "(no name)"], "outside" if parts else "other"
        if any(map(is_too_long, parts)):
            parts, kind = [name[:MAX_NAME]], "long"
        folder = top
        for depth, part in enumerate(parts[:-1], 1):
            within_it = folder[part].folder if part in folder else None  # a name may be a file's and a folder's
            if within_it is None:
                count, within_it = count + 1, {}
                folder[part] = Node(part, "dir", place, prefix + "/".join(parts[:depth]), 0.0, within_it, download)
            folder = within_it
        if parts[-1] in folder and folder[parts[-1]].kind == "dir":
            continue
        count += 1
        within(bounds, count, 0, 0)
        inside = prefix + (name if kind != "dir" else name.rstrip("/"))
        # The later one of two files with one name counts, as when they are unpacked.
        empty: dict[str, Node] | None = {} if kind == "dir" else None
        folder[parts[-1]] = Node(parts[-1], kind, place, inside, entry.modified, empty, download)
    return Node(stem((member or place).rpartition("/")[2]), "dir", place, prefix, folder=top, download=download)


def read(place: str, member: str = "") -> Submission:
    """A file, or one member of an archive, as a submission. Raises BadSubmission or NoSuchFile."""
    outer, _, inner = member.partition(NESTED)
    name = os.path.basename(place)
    shown_name = label(os.path.basename(member or name))
    if not member or (not inner and place in downloads):
        limit = safe_files.limit_of(member or name)
        data = in_download(place).read(member, limit) if member else beneath.read(place, limit)
        return submission.decode(data, shown_name, safe_files.is_notebook(member or name))
    packed = _packed(place, outer if inner else "")
    source, notes = _code(packed, outer if inner else name, inner or member, shown_name, *astuple(STUDENT))
    return Submission(source, shown_name, tuple(notes))


@limited
def _listed(data: bytes, name: str, *bounds: int) -> Listing:
    """The members of a student's archive: name, kind, size and time."""
    reader = Reader(name, io.BytesIO(data), Bounds(*bounds))
    return [(name, *facts) for name, facts in reader.members.items()]


@limited
def _code(data: bytes, name: str, member: str, shown_name: str, *bounds: int) -> tuple[str, tuple[str, ...]]:
    """The source in one member of a student's archive, and the notes on it."""
    content = Reader(name, io.BytesIO(data), Bounds(*bounds)).read(member, safe_files.limit_of(member))
    decoded = submission.decode(content, shown_name, safe_files.is_notebook(member))
    return decoded.source, decoded.notes


def _packed(place: str, member: str) -> bytes:
    """The bytes of a file, or of a member of a download."""
    if not member:
        return beneath.read(place, MAX_PACKED)
    return in_download(place).read(member, MAX_PACKED)


@functools.lru_cache(maxsize=8)
def _listing(place: str, member: str, changed: int) -> Listing | str:
    """What the helper lists of an archive, which is looked at to recognize the layout and again to be walked.

    changed: when the file was. Returns a text if the archive is refused for good.
    """
    try:
        return _listed(_packed(place, member), member or os.path.basename(place), *astuple(STUDENT))
    except TooMuch:  # perhaps because the helper was ended from outside
        raise
    except BadSubmission as error:
        return str(error)
