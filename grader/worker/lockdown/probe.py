"""Attempts, from inside a worker, what a worker must not be able to do, and reports the outcomes.

Only an attempt shows whether the sandbox works: a layer that has no effect reports no error.
"""

import ctypes
import errno
import fcntl
import functools
import os
import resource
import signal
import socket
import sys
import threading

from . import kernel, seccomp

PARENT, PTRACE_SEIZE = "the parent's pid", 0x4206

# System calls that Python does not offer, by number on x86-64 and aarch64. Their arguments are malformed, so that a
# call which is let through does nothing; it then fails with another error than a refusal.
RAW = {
    "unshare": (272, 97, (0x10000000,)),
    "memfd_create": (319, 279, (b"x", 0)),
    "shmget": (29, 194, (0, 0, 0o1600)),
    "mount": (165, 40, (b"none", b"/", b"no such file system", 0, 0)),
    "io_uring_setup": (425, 425, (1, bytes(120))),
    "bpf": (321, 280, (0, bytes(120), 120)),
    "perf_event_open": (298, 241, (bytes(120), 0, -1, -1, 0)),
    "userfaultfd": (323, 282, (1,)),
    "keyctl": (250, 219, (0, -3, 0)),
    "process_vm_readv": (310, 270, (PARENT, bytes(16), 1, bytes(16), 1, 0)),
    "ptrace": (101, 117, (PTRACE_SEIZE, PARENT, 0, 0)),
    "open_by_handle_at": (304, 265, (3, bytes(128), 0)),
}
REFUSING = (errno.EPERM, errno.EACCES, errno.ENOSYS)  # the last: this kernel has no such call


def run(facts: dict) -> dict[str, str]:
    """Attempt each forbidden action. Returns "refused: why" or "done" for each, by its description.

    facts: `own` is a file of the grader; `hidden`, `private` and `writable` are bait files; `tcp` and `udp` are the
    ports and `abstract` is the name of sockets that the grader listens on. An attempt that succeeds, as some do in tier
    D, does no harm: only bait files are changed.
    """
    attempts = {**_files(facts), **_network(facts), **_processes()}
    if seccomp.machine() is not None:  # else the numbers of its calls are not listed
        attempts |= {name: functools.partial(_call_by_number, name) for name in RAW}
    return {name: _outcome(attempt) for name, attempt in attempts.items()}


def run_a_program() -> str:
    """The last attempt. Where it succeeds, another program replaces this process, which the grader notices."""
    return _outcome(lambda: os.execv(sys.executable or "/bin/true", ["x", "-c", ""]))


def _files(facts: dict) -> dict:
    return {
        "read the grader's source": lambda: _read(facts["own"]),
        "read a hidden file": lambda: _read(facts["hidden"]),
        "see that a hidden file exists": lambda: os.stat(facts["hidden"]),
        "list the grader's folder": lambda: os.listdir(os.path.dirname(facts["hidden"])),
        "list processes": lambda: os.listdir("/proc"),
        "read the parent's memory map": lambda: _read(f"/proc/{os.getppid()}/maps"),
        "read the parent's environment": lambda: _read(f"/proc/{os.getppid()}/environ"),
        "make shared memory": lambda: _make_file("/dev/shm"),
        "make a file": lambda: _make_file(os.path.dirname(facts["hidden"])),
        "change a mode": lambda: os.chmod(facts["hidden"], 0o644),
        "read a private file": lambda: _read(facts["private"]),
        "empty a file": lambda: os.truncate(facts["writable"], 0),
        "remove a file": lambda: os.unlink(facts["writable"]),
    }


def _network(facts: dict) -> dict:
    def tcp():
        socket.socket().connect((b"127.0.0.1", facts["tcp"]))  # bytes, since a text would import a codec

    def udp():
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", (b"127.0.0.1", facts["udp"]))

    def abstract():
        socket.socket(socket.AF_UNIX).connect("\0" + facts["abstract"])

    def descriptors():
        socket.socket(fileno=os.dup(3)).sendmsg([], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, b"\0\0\0\0")])

    attempts = {"connect by TCP": tcp, "send by UDP": udp, "make a socket": socket.socketpair}
    attempts["send a descriptor"] = descriptors
    return attempts | ({"connect to an abstract socket": abstract} if facts.get("abstract") else {})


def _processes() -> dict:
    parent = os.getppid()
    attempts = {
        "signal the parent": lambda: os.kill(parent, 0),
        "start a process": _fork,
        "start a thread": lambda: threading.Thread(target=int).start(),
        "become root": lambda: os.setresuid(0, 0, 0),
        "leave the parent's death unnoticed": lambda: kernel.prctl(kernel.PR_SET_PDEATHSIG, 0),
        "be readable to others": lambda: kernel.prctl(kernel.PR_SET_DUMPABLE, 1),
    }
    if sys.platform == "linux":
        attempts |= {
            "let the kernel signal the parent": lambda: _owned_by(parent),
            "bind the parent to a core": lambda: os.sched_setaffinity(parent, os.sched_getaffinity(0)),
            "limit the parent": lambda: _limit(parent),
        }
    return attempts


def _outcome(attempt) -> str:
    try:
        attempt()
    except BaseException as error:  # a refusal may be any exception
        return f"refused: {type(error).__name__} {getattr(error, 'strerror', None) or error}"[:120]
    return "done"


def _call_by_number(name: str) -> None:
    """Raises OSError only for a refusal. Any other error means that the kernel accepted the call."""
    on_x86, on_arm, arguments = RAW[name]
    number = on_x86 if seccomp.machine() == "x86_64" else on_arm
    given = [os.getppid() if argument is PARENT else argument for argument in arguments]
    pointers = [ctypes.create_string_buffer(a, len(a) + 1) if isinstance(a, bytes) else a for a in given]
    try:
        kernel.call(number, *pointers)
    except OSError as error:
        if error.errno in REFUSING:
            raise


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(1)


def _fork() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def _make_file(folder: str) -> None:
    path = os.path.join(folder, f"made-by-the-probe-{os.getpid()}")
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    os.unlink(path)


def _owned_by(parent: int) -> None:
    fcntl.fcntl(3, 10, signal.SIGURG)  # F_SETSIG: a signal that would be harmless if it were sent
    fcntl.fcntl(3, fcntl.F_SETOWN, parent)
    fcntl.fcntl(3, fcntl.F_SETOWN, 0)


def _limit(parent: int) -> None:
    resource.prlimit(parent, resource.RLIMIT_CORE, resource.prlimit(parent, resource.RLIMIT_CORE))
