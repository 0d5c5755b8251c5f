"""What a client and the warm process say to each other.

A client sends a Request. A child answers READY with its process id and waits for GO, so that a client that has given up
gets nothing printed. With GO come the client's standard streams and its working folder: a process that was stopped
must not hold them, or whoever reads the output waits for its end. Then comes ENDED with the exit code, or KILLED with
the signal. Each answer is a line.

They meet at a socket in a folder that nobody but the user can enter.
"""

from __future__ import annotations

import os
import stat
import sys

from grader import folders

NAME = "attention-kata"
TYPE_CHECKING = False
PROTOCOL = "1"
READY, GO, ENDED, KILLED, COLD, TOLD = b"R", b"G", b"E", b"K", b"C", b"T"
BEGUN = b"b"  # what a child reports to the warm process first; at its end follow a line of what it gives back
RUN, STATUS, STOP = "run", "status", "stop"  # what is wanted
HEAD = 16  # bytes that say how many follow
MOST = 8 << 20  # bytes of a request
DESCRIPTORS = 4  # standard input, output and error, and the working folder
# What is read where Python or a library starts. Other variables are read later, so a child takes the client's.
READ_AT_START = (
    "ATEN_", "CUBLAS_", "CUDA_", "DYLD_", "GLIBC_", "GOMP_", "KMP_", "LC_", "LD_", "MALLOC_", "MKL_", "NVIDIA_", "OMP_",
    "OPENBLAS_", "PYTHON", "PYTORCH_", "TORCH", "TRITON_",
)  # fmt: skip
ALSO_READ = ("HOME", "LANG", "LANGUAGE", "TMPDIR", "VIRTUAL_ENV", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR")


def open_folder(make: bool = False) -> int | None:
    """The folder's descriptor; None where there is none, or none that others cannot write to. make: make it first."""
    for parent in _parents():
        try:
            if make and not os.path.lexists(parent):
                os.mkdir(parent, 0o700)  # an account that is new has no cache folder
            if not is_safe(parent):
                continue
            path = os.path.join(parent, NAME)
            if make and not os.path.lexists(path):
                os.mkdir(path, 0o700)
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        facts = os.fstat(folder)
        if facts.st_uid == os.geteuid() and stat.S_IMODE(facts.st_mode) == 0o700:
            return folder
        os.close(folder)
    return None


def is_safe(path: str) -> bool:
    """Whether nobody but this user and root can rename or replace a folder in here, or one that leads here."""
    path = os.path.realpath(path)
    while True:
        facts = os.stat(path)
        is_shared = facts.st_mode & 0o022 and not facts.st_mode & stat.S_ISVTX  # as /tmp, where each has their own
        if is_shared or facts.st_uid not in (0, os.geteuid()):
            return False
        if path == os.path.dirname(path):
            return True
        path = os.path.dirname(path)


def name_of(root: str) -> str:
    """The name of a checkout's socket. A home folder may serve several machines, so theirs is in it."""
    facts = os.stat(root)
    return f"{os.uname().nodename[:64].replace('/', '_')}-{facts.st_dev:x}-{facts.st_ino:x}"


def address(folder: int, name: str) -> str:
    """The address of a file in an open folder."""
    return f"/proc/self/fd/{folder}/{name}"


def _parents() -> list[str]:
    environment = os.environ
    home = environment.get("HOME", "")
    cache = environment.get("XDG_CACHE_HOME") or (os.path.join(home, ".cache") if home else "")
    return [parent for parent in (environment.get("XDG_RUNTIME_DIR", ""), cache) if os.path.isabs(parent)]


if TYPE_CHECKING:  # importing it takes as long as the rest of the client
    from collections.abc import Callable


class Request:
    """One command as a process was given it: everything about that process that the command can see."""

    def __init__(
        self, want: str, umask: str, ignored: str, settings: list[str], words: list[str], environment: list[str]
    ):
        self.want, self.umask, self.ignored = want, umask, ignored
        self.settings, self.words, self.environment = settings, words, environment

    def encode(self) -> bytes:
        """The request as bytes. No argument and no variable holds the NUL between them."""
        lists = self.settings, self.words, self.environment
        counts = " ".join(str(len(each)) for each in lists)
        fields = [PROTOCOL, self.want, self.umask, self.ignored, counts, *(text for each in lists for text in each)]
        return "\0".join(fields).encode("utf-8", "surrogateescape")

    @classmethod
    def decode(cls, data: bytes) -> Request:
        """The request in these bytes. Raises ValueError."""
        protocol, want, umask, ignored, counts, *texts = data.decode("utf-8", "surrogateescape").split("\0")
        sizes = [int(count) for count in counts.split()]
        if protocol != PROTOCOL or len(sizes) != 3 or sum(sizes) != len(texts):
            raise ValueError(protocol)
        first, second = sizes[0], sizes[0] + sizes[1]
        return cls(want, umask, ignored, texts[:first], texts[first:second], texts[second:])


def settings(root: str, environment: os._Environ[str]) -> list[str]:
    """What this process and one that serves it must have in common, as text. root: the folder that it serves."""
    script = os.path.dirname(sys.argv[0])
    found = [root, sys.executable, sys.version, repr(tuple(sys.flags)), *sys.warnoptions, *sorted(sys._xoptions)]
    streams = sys.stdin, sys.stdout, sys.stderr
    found += [f"{stream.encoding} {stream.errors} {getattr(stream, 'write_through', '')}" for stream in streams]
    found += [path for path in sys.path if path not in (folders.ROOT, script)]
    found += sorted(
        f"{name}={environment[name]}" for name in environment if environment[name] and is_read_at_start(name)
    )
    places = environment.get("PATH", os.defpath).split(os.pathsep)
    return [*found, next((path for folder in places if _is_program(path := os.path.join(folder, "bwrap"))), "")]


def is_read_at_start(name: str) -> bool:
    """Whether a variable of the environment is read where Python or a library starts."""
    return name in ALSO_READ or name.startswith(READ_AT_START)


def receive_line(receive: Callable[[int], bytes]) -> bytes:
    """The next line without its end; as far as it came where the connection ends."""
    line = b""
    while not line.endswith(b"\n"):
        byte = receive(1)
        if not byte:
            return line
        line += byte
    return line[:-1]


def _is_program(path: str) -> bool:
    return os.access(path, os.X_OK)
