"""Reads strangers' archives without unpacking them: checks names and sizes, and reads one member as bytes.

Nothing is written to disk, so no path can leave a folder and no link can be followed. Entries, tables of contents,
totals and ratios have limits, and a damaged or encrypted archive is refused with its reason (archive_limits.py). A
student's archive is read in the helper process (grader/records/limited.py), because a few kilobytes can keep the
libraries busy without end. A platform's download, which may be large, is read in this process.

A member of an archive that itself lies in an archive (a download that holds one archive for each student) is named
"ada.zip//context_vectors.py".
"""

import hashlib
import io
import os
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path

from grader.catalog.errors import BadSubmission
from grader.classroom.intake import beneath
from grader.classroom.intake.archive_limits import BadArchive, Bounds, Entry, within
from grader.classroom.intake.archive_reader import Reader
from grader.classroom.intake.beneath import MAX_NAME, is_too_long
from grader.classroom.intake.downloads import DOWNLOAD, downloads
from grader.records import regular_file, submission
from grader.records.bounded_cache import BoundedCache
from grader.records.limited import TooMuch, limited
from grader.records.sanitize import label
from grader.records.submission import Submission

SUFFIXES = (".zip", ".tar.gz", ".tgz")
NESTED = "//"  # separates two archives; no path of a member has an empty part
MAX_PACKED = 64 << 20  # bytes of a student's archive
DEEPEST = 24  # folders below one another
STUDENT = Bounds(entries=20_000, total=1 << 30, table=4 << 20, ratio=200)

Listing = tuple[list[tuple], dict[str, int]]  # the members and how often names are repeated, see `_listed`
listings: BoundedCache[bytes, Listing | str] = BoundedCache(16 << 20)  # by digest; a text says why one is refused


@dataclass(slots=True)
class Node:
    """A file or folder inside an archive. place: of the archive; member: its name there; kind: as for folders.Disk.

    An entry with the name of another entry has the kind "again". It is a child of the root and is never read.
    """

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
        """The entries of this folder in the order of their names."""
        return sorted(self.folder.values(), key=lambda node: node.name)

    def text(self) -> str:
        """The content as UTF-8 text. Raises BadArchive."""
        return downloads.read(self.place, self.member, MAX_PACKED).decode("utf-8", "replace")

    def opened(self, download: bool = False) -> "Node":
        """The root of this archive. download: whether it holds a whole class. Raises BadArchive."""
        if download or not self.download:
            raise BadArchive("an archive inside an archive: unpack it, or hand in its files")
        return tree(self.place, self.member)


def is_archive(name: str) -> bool:
    """Whether a file of this name is an archive that can be read."""
    return name.lower().endswith(SUFFIXES)


def stem(name: str) -> str:
    """The name without the archive's suffix."""
    suffix = next((suffix for suffix in SUFFIXES if name.lower().endswith(suffix)), "")
    return name[: len(name) - len(suffix)]


def tree(place: str, member: str = "", download: bool = False) -> Node:
    """The folders of the archive at this place (see `beneath`), or of the archive that is its member.

    download: whether it holds a whole class; then it may be larger, and hold an archive for each student. Raises
    BadArchive and NoSuchFile.
    """
    bounds = DOWNLOAD if download else STUDENT
    if download:
        members, repeated = downloads.open(place)
    else:
        name = member or os.path.basename(place)
        listed, repeated = _listing(_packed(place, member), name)
        members = {name: Entry(*facts) for name, *facts in listed}
    count = 0
    prefix = member + NESTED if member else ""
    root = Node(stem((member or place).rpartition("/")[2]), "dir", place, prefix, download=download)
    for name, times in repeated.items():
        for number in range(times):
            _set_aside(root, Node(name, "again", place, prefix + name), number)
    for name, entry in members.items():
        parts = [part for part in name.replace("\\", "/").split("/") if part != "."]
        kind = entry.kind
        if kind == "dir" and parts and not parts[-1]:
            parts.pop()
        if not parts or len(parts) > DEEPEST or "" in parts or ".." in parts or ":" in parts[0]:
            parts, kind = [name or "(no name)"], "outside" if parts else "other"
        if any(map(is_too_long, parts)):
            parts, kind = [name[:MAX_NAME]], "long"
        node = root
        for depth, part in enumerate(parts[:-1], 1):
            if part in node.folder and node.folder[part].kind != "dir":  # a name that is both a file and a folder
                _set_aside(root, replace(node.folder.pop(part), kind="again"))
            if part not in node.folder:
                count += 1
                node.folder[part] = Node(part, "dir", root.place, prefix + "/".join(parts[:depth]), download=download)
            node = node.folder[part]
        earlier = node.folder.get(parts[-1])
        if earlier is not None and (earlier.kind == "dir" or kind == "dir"):
            if kind != "dir":
                _set_aside(root, Node(name, "again", place, prefix + name))
            continue
        if earlier is not None:  # the later one of two files counts, as when they are unpacked
            _set_aside(root, replace(earlier, kind="again"))
        count += 1
        within(bounds, count, 0, 0)
        inside = prefix + (name if kind != "dir" else name.rstrip("/"))
        node.folder[parts[-1]] = Node(parts[-1], kind, root.place, inside, entry.modified, {}, download)
    return root


def _set_aside(root: Node, node: Node, number: int = 0) -> None:
    """Keep an entry with the name of another entry, so that it is reported."""
    root.folder[f"{node.member}{NESTED}{number}{NESTED}{len(root.folder)}"] = node


def read(place: str, member: str) -> Submission:
    """One member as a submission. Raises BadSubmission (BadArchive among them) or NoSuchFile."""
    outer, _, inner = member.partition(NESTED)
    shown_name = label(f"{os.path.basename(place)}:{member}")
    if not inner and place in downloads.places:
        data = downloads.read(place, member, regular_file.limit_of(member))
        return submission.decode(data, shown_name, regular_file.is_notebook(member))
    packed = _packed(place, outer if inner else "")
    name = outer if inner else os.path.basename(place)
    source, notes = _code(packed, name, inner or member, shown_name, *astuple(STUDENT))
    return Submission(source, shown_name, tuple(notes))


def content(place: str, member: str) -> bytes:
    """The bytes of a member of a download. Raises BadSubmission, also for an archive of a student's, or NoSuchFile."""
    if NESTED in member or place not in downloads.places:
        raise BadArchive("it is in the archive of a student")
    return downloads.read(place, member, regular_file.limit_of(member))


def _packed(place: str, member: str) -> bytes:
    """A student's archive: the file itself, or a member of a download."""
    if not member:
        return beneath.read(place, MAX_PACKED)
    return downloads.read(place, member, MAX_PACKED)


def _listing(data: bytes, name: str) -> Listing:
    """As `_listed`. An archive is listed to recognize the layout and again to be walked: the helper reads it once."""
    key = hashlib.sha256(f"{len(name)} {name} ".encode() + data).digest()
    cached = listings.get(key)
    if cached is None:
        try:
            cached = _listed(data, name, *astuple(STUDENT))
        except TooMuch:  # perhaps because the helper was ended from outside
            raise
        except BadSubmission as error:
            cached = str(error)
        listings.put(key, cached)
    if isinstance(cached, str):
        raise BadSubmission(cached)
    return cached


@limited
def _listed(data: bytes, name: str, *bounds: int) -> Listing:
    """The members of a student's archive, each with the fields of its Entry; and how often each name is repeated."""
    reader = Reader(name, io.BytesIO(data), Bounds(*bounds))
    repeated = {name: count for name, count in reader.inner.repeated.items() if count > 0}
    return [(name, *astuple(entry)) for name, entry in reader.members.items()], repeated


@limited
def _code(data: bytes, name: str, member: str, shown_name: str, *bounds: int) -> tuple[str, tuple[str, ...]]:
    """The source in one member of a student's archive, and the notes on it."""
    content = Reader(name, io.BytesIO(data), Bounds(*bounds)).read(member, regular_file.limit_of(member))
    decoded = submission.decode(content, shown_name, regular_file.is_notebook(member))
    return decoded.source, decoded.notes
