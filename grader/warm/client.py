"""The command as a client of the warm process, and the start of that process.

Whatever fails before the warm process has taken the command leads to the cold way, and nothing is said.
"""

import _signal  # type: ignore[import-not-found]  # the module signal makes enums first
import _socket
import os
import sys

from grader.warm import message
from grader.warm.message import (
    DESCRIPTORS,
    ENDED,
    GO,
    HEAD,
    KILLED,
    READY,
    RUN,
    Request,
    receive_line,
    settings,
)

# No verb for others' code: grade, a class and a platform have processes of their own.
LENT_VERBS = ("check", "try", "plot")  # they run the learner's code
PAGES, NOTEBOOK = "--pages", "--notebook"  # in place of a verb: what draws for a watch, what grades for a notebook
LASTING = ("watch", "start", PAGES, NOTEBOOK)  # they run it for hours, and others do not wait for them
VERBS = (*LENT_VERBS, *LASTING, "hint", "list", "progress", "review", "solution")
STARTING = (*LENT_VERBS, "watch", "start", "figure")  # after one of these the next command probably needs torch
MAKE = "--make"  # as in grader/cli
WITHOUT = ("CI", "GRADER_DEBUG", "PYTEST_VERSION", "PYTEST_CURRENT_TEST")  # where one is set, every start is cold
ANSWER_S = 0.5  # after so long a look whether the warm process was stopped, as by Ctrl-Z
LOOKS = 10  # at a process that says nothing, before the cold way: a busy machine may be slow
NOT_DONE = 3  # as in grader/catalog/errors.py
FORWARDED = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP, _signal.SIGQUIT, _signal.SIGWINCH)
SERVE = "--serve"  # the first argument of the warm process itself


def verb_of(words: list[str]) -> str:
    """The verb of a command line, which is its first word; "" where another word is first."""
    words = words[1:] if words[:1] == [MAKE] else words
    return words[0] if words else ""


def is_wanted() -> bool:
    """Whether this system and these settings have a warm process. Where they have not, every command starts cold."""
    if sys.platform != "linux" or any(os.environ.get(name) for name in WITHOUT):
        return False
    return minutes(os.environ.get("WARM", "")) > 0


def is_in_background() -> bool:
    """Whether the terminal is another job's. A child has no terminal of its own, and would take that job's keys."""
    try:
        return os.tcgetpgrp(0) != os.getpgrp()
    except OSError:
        return False  # there is no terminal


def minutes(text: str) -> float:
    """The idle minutes after which the warm process ends, from the variable WARM: ten where it says nothing."""
    try:
        return min(float(text), 24 * 60.0)
    except ValueError:
        return 0.0 if text in ("no", "off") else 10.0


def run(words: list[str], root: str) -> int | None:
    """Let the warm process run a command. Returns its exit code; None where there is none to run it."""
    if verb_of(words) not in VERBS or any(word.startswith("--d") for word in words) or not is_wanted():
        return None  # --device
    if None in (sys.stdin, sys.stdout, sys.stderr) or (verb_of(words) in LASTING and is_in_background()):
        return None
    try:
        connection = connect(root)
        send(connection, RUN, words, root)
        answer = first_answer(connection)
        if not answer.startswith(READY):
            return None
        pid = int(answer[1:])
        connection.settimeout(None)
        forward_signals(pid)
        go(connection)
    except (OSError, ValueError):
        return None
    return outcome(connection)


def connect(root: str) -> _socket.socket:
    """A connection to the warm process of a checkout. Raises OSError."""
    folder = message.open_folder()
    if folder is None:
        raise FileNotFoundError(message.NAME)
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.connect(message.address(folder, message.name_of(root)))
        if peer(connection)[1] != os.geteuid():
            raise PermissionError(message.NAME)
    finally:
        os.close(folder)
    return connection


def peer(connection: _socket.socket) -> tuple[int, int]:
    """The process and the user at the other end, as the kernel reports them."""
    data = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    return int.from_bytes(data[:4], sys.byteorder), int.from_bytes(data[4:8], sys.byteorder)


def first_answer(connection: _socket.socket) -> bytes:
    """What the warm process says to a request; b"" where it says nothing in time. Raises OSError."""
    connection.settimeout(ANSWER_S)
    for _ in range(LOOKS):
        try:
            return receive_line(connection.recv)
        except TimeoutError:
            with open(f"/proc/{peer(connection)[0]}/stat", "rb") as stat:
                if stat.read().rpartition(b")")[2].split()[0] in (b"T", b"t"):
                    break
    return b""


def send(connection: _socket.socket, want: str, words: list[str], root: str) -> None:
    """Send a request. Raises OSError."""
    umask = os.umask(0o077)
    os.umask(umask)
    ignored = [number for number in FORWARDED if _signal.getsignal(number) == _signal.SIG_IGN]
    environment = [f"{name}={value}" for name, value in os.environ.items()]
    request = Request(want, str(umask), " ".join(map(str, ignored)), settings(root, os.environ), words, environment)
    data = request.encode()
    connection.sendall(b"%*d%s" % (HEAD, len(data), data))


def go(connection: _socket.socket) -> None:
    """Let a child begin, with the streams and the working folder of this process. Raises OSError."""
    folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        given = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2, folder))
        assert len(given) == 4 * DESCRIPTORS
        connection.sendmsg([GO], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, given)])
    finally:
        os.close(folder)


def forward_signals(pid: int) -> None:
    """Give the signals of the terminal and of others to a child and what it started. pid: the child's."""

    def forward(number: int, _: object) -> None:
        try:
            os.killpg(pid, number)
        except OSError:
            pass

    def stop(number: int, frame: object) -> None:
        """Ctrl-Z: stop the child too, and let it go on when this process does."""
        forward(_signal.SIGSTOP, frame)
        _signal.signal(_signal.SIGTSTP, _signal.SIG_DFL)
        os.kill(os.getpid(), _signal.SIGTSTP)
        _signal.signal(_signal.SIGTSTP, stop)
        forward(_signal.SIGCONT, frame)

    for number in FORWARDED:
        if _signal.getsignal(number) != _signal.SIG_IGN:
            _signal.signal(number, forward)
    if _signal.getsignal(_signal.SIGTSTP) != _signal.SIG_IGN:
        _signal.signal(_signal.SIGTSTP, stop)


def outcome(connection: _socket.socket) -> int:
    """The exit code of the child. Where a signal killed it, the same one kills this process."""
    try:
        answer = receive_line(connection.recv)
    except OSError:
        answer = b""
    if answer.startswith(ENDED):
        return int(answer[1:])
    if answer.startswith(KILLED):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        number = int(answer[1:])
        if number != _signal.SIGKILL:
            _signal.signal(number, _signal.SIG_DFL)
        os.kill(os.getpid(), number)
    print("The grader was ended before it was done. Type the same command again.", file=sys.stderr)
    return NOT_DONE


def start(words: list[str], program: str) -> None:
    """Start the warm process for the commands after this one, which is done. It ends at once where there is one.

    program: the path of grader/__main__.py.
    """
    if verb_of(words) not in STARTING or "torch" not in sys.modules or not is_wanted():
        return
    import subprocess

    collection = sys.modules.get("grader.judge.collection")
    folders = list(collection.asked_for) if collection is not None else []
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    try:
        subprocess.Popen(
            [sys.executable, *flags, program, SERVE, *folders],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        pass
