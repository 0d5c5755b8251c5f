"""The grader's handle of one worker: it sends requests with a deadline, observes the process, and kills it."""

from __future__ import annotations

import contextlib
import secrets
import select
import time
from collections.abc import Callable

from grader.sandbox.process import Lost, Meter, used
from grader.worker import framing, wire

GLANCE_S = 0.1  # seconds between two measurements of the processor time of a silent worker
FEW_PAGES = 50  # new pages of memory between two measurements; an import takes more
IN_ALL = 4  # the limit with imports, in units of `call_cpu_s`: torch.optim imports torch._dynamo, which may take 2.5 s
GRACE_S = 0.3  # seconds for a process that closed its connection to end, so that its exit status is known


class WorkerEnded(Exception):
    """The worker's process ended before it answered. `status`: exit code, negative for a signal."""

    def __init__(self, status: int | None):
        super().__init__(f"the worker ended with status {status}")
        self.status = status


class TimedOut(Exception):
    """The worker did not answer within `seconds`, and has been killed. asleep: on the clock, and without computing."""

    def __init__(self, seconds: float, asleep: bool = False):
        super().__init__(f"no answer within {seconds:g} s")
        self.seconds, self.asleep = seconds, asleep


class Worker:
    """One untrusted process, which answers encoded requests (worker/protocol.py). After an exception it is dead.

    end: kills it after some seconds of grace. It gives the exit status of one that had ended by itself. pid: its
    process id as the grader sees it.
    """

    def __init__(self, end: Callable[[float], int | None], inbox: framing.Inbox, pid: int):
        self.end, self.inbox, self.pid = end, inbox, pid
        self.connection, self.alive = inbox.sock, True
        self.meter: Meter | None = None  # of a worker whose memory is measured

    def exchange(self, request: bytes, seconds: float, cpu_s: float | None) -> bytearray:
        """The encoded reply to an encoded request, within `seconds`, of which `cpu_s` may be computed.

        Raises TimedOut, WorkerEnded, wire.ProtocolError where the bytes are no valid reply, and Lost where the fork
        server is gone.
        """
        nonce, began = secrets.randbits(64), time.monotonic()
        try:
            framing.send_all(self.connection, framing.frame(nonce, request), began + seconds)
            self._wait(began, seconds, cpu_s)
            echoed, body = self.inbox.receive(began + seconds)
            if echoed != nonce:
                raise wire.ProtocolError("the reply belongs to no request")
            return body
        except framing.Closed:
            raise WorkerEnded(self._close(GRACE_S)) from None
        except TimeoutError:
            self.close()
            raise TimedOut(seconds) from None
        except (TimedOut, wire.ProtocolError):
            self.close()
            raise

    def close(self) -> None:
        """Kill the process and all that it started."""
        with contextlib.suppress(Lost):
            self._close()

    def _wait(self, began: float, seconds: float, most: float | None) -> None:
        """Wait until the worker begins to answer. most: seconds of processor time that it may take. Raises TimedOut."""
        first = last = None
        awake = began
        while not select.select([self.connection], [], [], min(GLANCE_S, seconds))[0]:
            now = time.monotonic()
            if now - began >= seconds:
                raise TimedOut(seconds, asleep=last is not None and now - awake >= seconds / 2)
            if self.meter is not None:
                self.meter.look()
            usage = used(self.pid) if most else None
            if most is None or usage is None:
                continue
            first = first or usage
            if last is None or usage.pages - last.pages > FEW_PAGES:
                quiet = usage.seconds
            if last is None or usage.seconds > last.seconds or not usage.asleep:
                awake = now
            last = usage
            if usage.seconds - quiet >= most - GLANCE_S:
                raise TimedOut(most)
            if usage.seconds - first.seconds >= IN_ALL * most - GLANCE_S:
                raise TimedOut(IN_ALL * most)

    def _close(self, grace: float = 0.0) -> int | None:
        if not self.alive:
            return None
        self.alive = False
        self.connection.close()
        return self.end(grace)
