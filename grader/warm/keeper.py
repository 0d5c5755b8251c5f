"""The warm process: it waits for clients and forks a child for each command. No command runs in it.

One command at a time: who asks meanwhile starts cold.
"""

import contextlib
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from grader.catalog import paths
from grader.sandbox import tiers
from grader.warm import child, client, code_state, message
from grader.warm.ready import Ready
from grader.worker import warm_up
from grader.worker.lockdown import kernel

GLANCE_S = 15.0  # seconds between two looks at the files
REQUEST_S = 1.0  # the longest wait for what a client has to say


def serve(
    exercises: list[str], own: list[str], before: code_state.State, command: Callable[[], int], load: Callable[[], None]
) -> None:
    """Serve clients until there was no command for some minutes, or something has changed.

    exercises: to read first; own, before: its settings and the state of the code, before any of it was changed or
    imported; command: runs the command of sys.argv and returns its exit code; load: imports what it needs. Raises
    OSError where there is a warm process.
    """
    if tiers.choose().name == "D":  # without a sandbox a learner's code could ask as well
        return
    kernel.keep_out()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(message.address(str(paths.DESK)))
        load()
        with contextlib.closing(Ready(before)) as ready:
            for exercise in exercises:
                ready.prepare(exercise)
            ready.demand()
            Keeper(own, command, ready, listener).run()


@dataclass
class Running:
    """A child, the client that it works for, and the pipe in which it reports its end."""

    pid: int
    connection: socket.socket
    report: int


class Keeper:
    """The loop of the warm process. It has one thread, and waits for no client longer than REQUEST_S."""

    def __init__(self, own: list[str], command: Callable[[], int], ready: Ready, listener: socket.socket) -> None:
        self.own, self.command, self.ready, self.listener = own, command, ready, listener
        self.events = select.poll()
        self.running: Running | None = None
        self.commands, self.is_done = 0, False
        self.last = time.monotonic()  # when the last command ended

    def run(self) -> None:
        """Serve until there is a reason to end, and until the last child has ended."""
        self.listener.listen(16)
        self.events.register(self.listener, select.POLLIN)
        while self.running or not self.is_over():
            found = [number for number, _ in self.events.poll(1000 * GLANCE_S)]
            if self.running and self.running.report in found:
                self.finish(self.running)
            elif self.running and self.running.connection.fileno() in found:
                self.kill(self.running)
            if self.listener.fileno() in found:
                with contextlib.suppress(OSError, ValueError):
                    self.answer(self.listener.accept()[0])

    def is_over(self) -> bool:
        """Whether this process should end."""
        is_idle = time.monotonic() - self.last > 60 * client.idle_minutes()
        return self.is_done or is_idle or not self.ready.is_current()

    def answer(self, connection: socket.socket) -> None:
        """Answer a request, or fork a child for it. Raises OSError and ValueError."""
        with contextlib.ExitStack() as closing:
            closing.enter_context(connection)
            connection.settimeout(REQUEST_S)
            request = message.receive(connection) if message.peer(connection) is not None else {}
            if request.get("want") == message.STATUS:
                message.send(connection, {"commands": self.commands})
            elif request.get("want") == message.RUN and self.can_run(request):
                self.begin(request, connection)
                closing.pop_all()

    def can_run(self, request: dict[str, object]) -> bool:
        """Whether a child of this process would be what the client's own process is, and there is room for it."""
        words = request.get("words")
        is_ours = isinstance(words, list) and client.verb_of(words) in client.VERBS
        if self.running or self.is_done or not is_ours or request.get("settings") != self.own:
            return False
        self.is_done = not self.ready.is_current()
        if not self.is_done and not self.ready.is_alive():
            self.ready.replace()
        return not self.is_done and warm_up.threads() == 1

    def begin(self, request: dict[str, object], connection: socket.socket) -> None:
        """Fork a child for a command. Raises OSError."""
        report, end = os.pipe()
        pid = os.fork()
        if not pid:
            try:
                self.listener.close()
                os.close(report)
                child.run(request, connection, end, self.ready, self.command)
            finally:
                os._exit(70)
        os.close(end)
        self.commands += 1
        self.running = Running(pid, connection, report)
        self.events.register(report, select.POLLIN)
        self.events.register(connection, select.POLLRDHUP)

    def finish(self, running: Running) -> None:
        """Take back what a child had, and make ready what the next one will ask for."""
        said = b""
        while chunk := os.read(running.report, 65536):
            said += chunk
        self.events.unregister(running.report)
        self.events.unregister(running.connection)
        os.close(running.report)
        running.connection.close()
        self.running = None
        is_whole, *exercises = said.decode().split(" ")
        if is_whole != child.WHOLE:
            self.kill(running)  # and what it has started
            self.ready.replace()
        os.waitpid(running.pid, 0)
        for folder in exercises:
            self.ready.prepare(folder)
        self.last = time.monotonic()

    def kill(self, running: Running) -> None:
        """Kill a child and its group: its client was killed, as the command itself would have been."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
