"""The command as a client of the warm process, and the start of that process.

Whatever fails before the warm process has taken the command leads to the cold way, and nothing is said.
"""

import os
import signal
import socket
import sys

from grader.warm import message

VERBS = ("check", "try", "plot")  # they need torch, and run the learner's own code
MAKE = "--make"  # the first argument, where the Makefile calls
SERVE = "--serve"  # the first argument of the warm process itself
WITHOUT = ("CI", "GRADER_DEBUG", "PYTEST_VERSION", "PYTEST_CURRENT_TEST")  # where one is set, every start is cold
BUSY_S = 60.0  # the longest wait for an answer: on a busy machine the warm process waits for a processor
NOT_DONE = 3  # as in grader/catalog/errors.py
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGWINCH)


def verb_of(words: list[str]) -> str:
    """The verb of a command line, which is its first word; "" where there is none."""
    words = words[1:] if words[:1] == [MAKE] else words
    return words[0] if words else ""


def is_wanted() -> bool:
    """Whether this system and these settings have a warm process. Where they have not, every command starts cold."""
    return sys.platform == "linux" and not any(map(os.environ.get, WITHOUT)) and idle_minutes() > 0


def idle_minutes() -> float:
    """The idle minutes after which the warm process ends, from the variable WARM: ten where it says nothing."""
    try:
        return float(os.environ.get("WARM") or 10)
    except ValueError:  # a word, as no
        return 0.0


def run(words: list[str], desk: str) -> int | None:
    """Let the warm process run a command. Returns its exit code; None where there is none to run it."""
    is_warm = verb_of(words) in VERBS and not any(word.startswith("--d") for word in words)  # --device
    if not is_warm or not is_wanted() or None in (sys.stdin, sys.stdout, sys.stderr):
        return None
    try:
        connection = ask(desk, message.RUN, words)
        pid = message.receive(connection).get("pid")
        if pid is None:
            return None
        connection.settimeout(None)
        forward_signals(pid)
        folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        socket.send_fds(connection, [message.GO], [0, 1, 2, folder])
        os.close(folder)
    except (OSError, ValueError):
        return None
    return outcome(connection)


def ask(desk: str, want: str, words: list[str]) -> socket.socket:
    """Send a request to the warm process of a learner's folder, which answers in BUSY_S. Raises OSError."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(BUSY_S)
    connection.connect(message.address(desk))
    if message.peer(connection) is None:
        raise PermissionError("somebody else listens there")
    umask = os.umask(0o077)
    os.umask(umask)
    ignored = [int(number) for number in FORWARDED if signal.getsignal(number) == signal.SIG_IGN]
    process = {"umask": umask, "ignored": ignored, "environment": dict(os.environ)}
    message.send(connection, {"want": want, "words": words, "settings": message.settings(desk), **process})
    return connection


def forward_signals(pid: int) -> None:
    """Give the signals of the terminal and of others to a child and what it started. pid: the child's."""

    def forward(number: int, _: object) -> None:
        try:
            os.killpg(pid, number)
        except OSError:
            pass

    def stop(number: int, frame: object) -> None:
        """Ctrl-Z: stop the child too, and let it go on when this process does."""
        forward(signal.SIGSTOP, frame)
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, stop)
        forward(signal.SIGCONT, frame)

    for number in FORWARDED:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, forward)
    if signal.getsignal(signal.SIGTSTP) != signal.SIG_IGN:
        signal.signal(signal.SIGTSTP, stop)


def outcome(connection: socket.socket) -> int:
    """The exit code of the child. Where it was killed, that is said."""
    try:
        code = message.receive(connection).get("code")
    except (OSError, ValueError):
        code = None
    if isinstance(code, int):
        return code
    print("The grader was ended before it was done. Type the same command again.", file=sys.stderr)
    return NOT_DONE


def start(words: list[str], program: str) -> None:
    """Start the warm process for the commands after this one, which is done. It ends at once where there is one.

    program: the path of grader/__main__.py.
    """
    if verb_of(words) not in VERBS or "torch" not in sys.modules or not is_wanted():
        return
    import subprocess

    exercises = getattr(sys.modules.get("grader.judge.collection"), "asked_for", ())
    command = [sys.executable, *subprocess._args_from_interpreter_flags(), program]  # type: ignore[attr-defined]
    none = subprocess.DEVNULL
    try:
        subprocess.Popen([*command, SERVE, *exercises], stdin=none, stdout=none, stderr=none, start_new_session=True)
    except OSError:
        pass
