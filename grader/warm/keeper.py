"""The warm process: it waits for clients and forks a child for each command. No command runs in it."""

import contextlib
import fcntl
import os
import resource
import select
import signal
import socket
import struct
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from grader.catalog import paths
from grader.sandbox import tiers
from grader.sandbox.process import Process
from grader.warm import child, code_state, message
from grader.warm.client import LASTING, LENT_VERBS, VERBS, minutes, verb_of
from grader.warm.lending import Lending, Loan
from grader.warm.message import BEGUN, COLD, HEAD, KILLED, MOST, RUN, STATUS, STOP, TOLD, Request
from grader.worker import warm_up
from grader.worker.lockdown import kernel

LEAST = 512 << 20  # bytes that must be left for others
GROUPS = Path("/sys/fs/cgroup")
GLANCE_S = 15.0  # seconds between two looks at the memory and at the files
REQUEST_S = 1.0  # the longest wait for what a client has to say
PEER = struct.Struct("3i")  # process, user and group of who has connected, as the kernel reports them
LIMITS = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]
CLOSED = select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR


def is_short() -> bool:
    """Whether others could want the memory that this process holds. False where the system does not say."""
    return any(left < LEAST for left in (*_of_machine(), *_of_group()))


def held_by(pids: Iterable[int]) -> int:
    """The megabytes that processes hold beside the files that they map, which the system can drop at any time."""
    pages = 0
    for pid in pids:
        try:
            _, resident, shared, *_ = map(int, Path(f"/proc/{pid}/statm").read_text().split())
            pages += resident - shared
        except (OSError, ValueError):
            continue
    return pages * os.sysconf("SC_PAGESIZE") >> 20


def _of_machine() -> list[int]:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")]
    except (OSError, ValueError):
        return []


def _of_group() -> list[int]:
    """What a container, or another group of processes, may still take: files that it has cached count as free."""
    try:
        group = Path("/proc/self/cgroup").read_text().strip().splitlines()[-1].partition("::")[2]
        folder = GROUPS / group.lstrip("/")
        most = int((folder / "memory.max").read_text())
        facts = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        return [most - int((folder / "memory.current").read_text()) + int(facts["file"])]
    except (OSError, ValueError, KeyError, IndexError):
        return []


@dataclass
class Running:
    """A child: the client that it works for, where it reports its end, and whether it has the fork servers.

    given: the processes that it was given for good.
    """

    pid: int
    connection: socket.socket
    report: int
    has_loan: bool
    given: list[Process]
    said: bytes = field(default=b"")


def serve(
    folders: list[str], own: list[str], before: code_state.State, command: Callable[[], int], load: Callable[[], None]
) -> None:
    """Serve clients until nobody has asked for some minutes, or something has changed.

    folders: of the exercises to read first; own, before: its settings and the state of the code, before any of it was
    changed or imported; command: runs the command of sys.argv and returns its exit code; load: imports what it needs.
    """
    with contextlib.ExitStack() as ending:
        folder = message.open_folder(make=True)
        if folder is None or is_short():
            return
        name = message.name_of(str(paths.DESK))
        lock = os.open(f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600, dir_fd=folder)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return  # there is one
        os.truncate(lock, 0)
        os.write(lock, str(os.getpid()).encode())
        if tiers.choose().name == "D" and tiers.is_root() and tiers.stranger() is None:
            return  # the limits of a worker, by which it is known, are none for root
        kernel.keep_out()
        listener = bind(folder, name)  # before the import: not every file system has sockets
        load()
        lending = Lending(before)
        ending.callback(lending.close)
        lending.prepare(folders)
        lending.demand()
        server = Server(own, command, lending, listener, (lock, folder, name))
        ending.callback(server.leave)
        server.run()


class Server:
    """The loop of the warm process. It has one thread, and waits for nobody longer than REQUEST_S."""

    def __init__(
        self,
        own: list[str],
        command: Callable[[], int],
        lending: Lending,
        listener: socket.socket,
        place: tuple[int, int, str],
    ) -> None:
        self.own, self.command, self.lending, self.listener = own, command, lending, listener
        self.lock, self.folder, self.name = place
        self.node = os.stat(self.name, dir_fd=self.folder)
        self.events = select.epoll()
        self.children: dict[int, Running] = {}  # by their reports
        self.commands, self.is_done = 0, False
        self.idle_s = 60 * minutes(os.environ.get("WARM", ""))
        self.since, self.last = time.time(), time.monotonic()

    def leave(self) -> None:
        """Remove the socket, unless another process has made one in its place."""
        self.listener.close()
        with contextlib.suppress(OSError):
            if self.is_there():
                os.unlink(self.name, dir_fd=self.folder)

    def is_there(self) -> bool:
        """Whether the socket is where clients look for it: at log-out the system removes its folder."""
        try:
            return os.path.samestat(os.stat(self.name, dir_fd=self.folder), self.node)
        except OSError:
            return False

    def run(self) -> None:
        """Serve until there is a reason to end, and until the last child has ended."""
        self.listener.listen(16)
        self.events.register(self.listener.fileno(), select.EPOLLIN)
        while not self.is_done or self.children:
            found = [number for number, _ in self.events.poll(self.pause())]
            reports = [number for number in found if number in self.children]
            for number in reports:  # before new clients: they may need what is given back
                self.hear(self.children[number])
            for number in set(found) - set(reports):
                if number != self.listener.fileno():
                    self.abandon(number)
                elif not self.is_done:
                    with contextlib.suppress(OSError):
                        self.answer(self.listener.accept()[0])
            if not found and not self.children:
                is_over = time.monotonic() - self.last >= self.idle_s
                self.is_done = self.is_done or is_over or not self.is_there() or is_short()
                self.is_done = self.is_done or not self.lending.is_current()
            if self.is_done and self.listener.fileno() >= 0:
                self.events.unregister(self.listener.fileno())
                self.leave()
                if self.children:
                    fcntl.flock(self.lock, fcntl.LOCK_UN)  # another may begin while these go on

    def pause(self) -> float | None:
        """The longest wait for an event, in seconds; None: until a child ends."""
        if self.children:
            return None
        return max(min(GLANCE_S, self.last + self.idle_s - time.monotonic()), 0.0) + 0.001

    def answer(self, connection: socket.socket) -> None:
        """Take a request, and fork a child for it. Whoever should not ask gets no answer at all."""
        try:
            connection.settimeout(REQUEST_S)
            if not self.is_peer(connection):
                return
            request = receive(connection)
            if request.want == RUN:
                self.begin(request, connection)
            elif request.want == STATUS:
                held = held_by(self.pids())
                connection.sendall(b"%s%d %d %d %d\n" % (TOLD, os.getpid(), self.since, held, self.commands))
            elif request.want == STOP:
                connection.sendall(TOLD + b"\n")
                self.is_done = True
        except (OSError, ValueError, EOFError):
            pass
        finally:
            if all(running.connection is not connection for running in self.children.values()):
                connection.close()

    def is_peer(self, connection: socket.socket) -> bool:
        """Whether the same user has connected, from a process with the hard limits of this one.

        A worker of tier D is a process of the same user. Its hard limits are lower, and only root could raise them.
        """
        pid, uid, gid = peer(connection)
        if not pid or (uid, gid) != (os.geteuid(), os.getegid()):
            return False
        is_like_us = all(resource.prlimit(pid, number)[1] == resource.getrlimit(number)[1] for number in LIMITS)
        is_like_us &= os.sched_getaffinity(pid) == os.sched_getaffinity(0)
        is_like_us &= os.getpriority(os.PRIO_PROCESS, pid) == os.getpriority(os.PRIO_PROCESS, 0)
        return is_like_us and os.readlink(f"/proc/{pid}/ns/mnt") == os.readlink("/proc/self/ns/mnt")

    def begin(self, request: Request, connection: socket.socket) -> None:
        """Fork a child for a command, unless this process is not what the client's own would be."""
        verb = verb_of(request.words)
        if verb not in VERBS or request.settings != self.own or not self.lending.is_current() or warm_up.threads() != 1:
            self.is_done |= verb in VERBS
            connection.sendall(COLD + b"\n")
            return
        variables = [text.partition("=") for text in request.environment]
        self.idle_s = 60 * minutes(next((value for name, _, value in variables if name == "WARM"), ""))
        is_lasting = verb in LASTING
        loan = self.lending.lend(for_good=is_lasting) if is_lasting or verb in LENT_VERBS else Loan([])
        report, end = os.pipe()
        try:
            pid = os.fork()
        except OSError:
            os.close(report)
            os.close(end)
            raise
        if not pid:
            try:
                self.forget(connection)
                for number in LIMITS:  # the hard ones are the same
                    resource.setrlimit(number, resource.prlimit(peer(connection)[0], number))
                child.run(request, connection, end, loan, self.command)
            finally:
                os._exit(70)
        os.close(end)
        self.commands += 1
        has_loan = bool(loan.processes) and not is_lasting
        self.lending.is_lent |= has_loan
        given = self.lending.give_away() if loan.processes and is_lasting else []
        self.children[report] = Running(pid, connection, report, has_loan, given)
        self.events.register(report, select.EPOLLIN)
        self.events.register(connection.fileno(), CLOSED)

    def forget(self, connection: socket.socket) -> None:
        """In a child: close what belongs to this process and to other children."""
        self.events.close()
        self.listener.close()
        for descriptor in (self.lock, self.folder):
            os.close(descriptor)
        for running in self.children.values():
            running.connection.close()
            os.close(running.report)

    def hear(self, running: Running) -> None:
        """Note what a child says when it begins and when it is done. Where a signal killed it, say so to its client."""
        said = os.read(running.report, 65536)
        running.said += said
        if b"\n" in running.said or not said:
            self.settle(running)
        if said:
            return
        self.events.unregister(running.report)
        os.close(running.report)
        del self.children[running.report]
        self.let_go(running)
        _, status = os.waitpid(running.pid, 0)
        for process in running.given:
            process.kill()
        if os.WIFSIGNALED(status):
            with contextlib.suppress(OSError):
                running.connection.sendall(b"%s%d\n" % (KILLED, os.WTERMSIG(status)))
        running.connection.close()
        self.last = time.monotonic()

    def settle(self, running: Running) -> None:
        """Take back what a child had on loan. One that never began has not used it."""
        if not running.has_loan:
            return
        running.has_loan = False
        if not running.said.startswith(BEGUN):
            self.lending.is_lent = False
            return
        state, *folders = running.said.removeprefix(BEGUN).decode().split(" ")
        self.lending.take_back(state, [folder for folder in folders if folder.strip()])

    def abandon(self, connection: int) -> None:
        """Kill the child of a client that was killed, as the command itself would have been."""
        for running in self.children.values():
            if running.connection.fileno() == connection:
                self.let_go(running)
                if running.said.startswith(BEGUN):
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(running.pid, signal.SIGKILL)

    def let_go(self, running: Running) -> None:
        """Watch a client no longer."""
        with contextlib.suppress(OSError):
            self.events.unregister(running.connection.fileno())

    def pids(self) -> list[int]:
        """This process, and all that it keeps."""
        return [os.getpid(), *self.lending.pids()]


def bind(folder: int, name: str) -> socket.socket:
    """Make the socket, in place of one that nobody listens at any more. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(message.address(folder, name))
    return listener


def peer(connection: socket.socket) -> tuple[int, int, int]:
    """The process, the user and the group at the other end, as the kernel reports them."""
    process, user, group = PEER.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, PEER.size))
    return process, user, group


def receive(connection: socket.socket) -> Request:
    """The request of a client. Raises OSError, EOFError and ValueError."""
    deadline = time.monotonic() + REQUEST_S
    size = int(_exactly(connection, HEAD, deadline))
    if not 0 < size <= MOST:
        raise ValueError(size)
    return Request.decode(_exactly(connection, size, deadline))


def _exactly(connection: socket.socket, size: int, deadline: float) -> bytes:
    data = bytearray()
    while len(data) < size:
        connection.settimeout(max(deadline - time.monotonic(), 0.001))
        chunk = connection.recv(size - len(data))
        if not chunk:
            raise EOFError
        data += chunk
    return bytes(data)
