"""The two roads to a module of functions: a sandboxed worker, or this process for our own files.

Both answer the same requests in the same way (grader/worker/executor.py).
"""

import builtins
import contextlib
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch.utils._python_dispatch import _disable_current_modes

from grader.catalog import paths
from grader.catalog.limits import Limits
from grader.records import places
from grader.records.bounded_cache import BoundedCache
from grader.records.source import SourceWords, defining, statements
from grader.records.submission import Submission
from grader.sandbox.forkserver import ForkServer, TimedOut, Worker, WorkerEnded
from grader.sandbox.memory import Meter
from grader.sandbox.transcript import Diverged, Transcript
from grader.worker import protocol, wire
from grader.worker.executor import Executor
from grader.worker.protocol import Reply, Request
from grader.worker.submitted_source import MAX_FRAMES
from grader.worker.wire import RawTensor

LOADING = (protocol.Load, protocol.Step)
ENDINGS = ("timeout", "ended")
STEP = 0.5  # of the seconds for loading, one statement may take that is run on its own
MISHAPS = (TimedOut, WorkerEnded, wire.ProtocolError)
MAX_ENDINGS = 3  # statements of a source that may end or block its process, each of which costs another process
MAX_STEPS = 2_000  # statements of a source that is run step by step
LEAST_CPU_S = 0.25  # for one call, however many did not end before
MAX_OUTPUT = 20_000  # characters of prints that are kept of a whole submission
MAX_RECEIVED = 64 << 20  # bytes of all results of a submission; those of right code are below 0.3 MB
TRANSCRIPTS = 64 << 20  # bytes of what a solution was asked and answered that are kept
# Where the grader lies, which no message tells: a warning or a traceback that was printed may name it.
OUR_PATHS = sorted({str(paths.ROOT), sys.prefix, str(Path.home())} - {"/", "/usr", "/usr/local"}, key=len, reverse=True)

L = TypeVar("L", bound="Local")


@dataclass
class Call:
    """One call that a check made, and what came of it."""

    text: str  # 'attention_weights(tensor (6, 3))'
    function: str  # 'attention_weights'
    want: str  # "output", "gradients" or "inputs"
    value: object = None
    problem: "LearnerError | None" = None
    seed: object = None  # of torch's generator, set before the call
    computed: bool = True  # False where a watched call did not compute anything
    outline: str = ""  # the text without a hidden value: 'encode(a str, a dict)'


class LearnerError(Exception):
    """The learner's code did not give a result. `facts` is plain data of what happened.

    kind: "exception", "missing", "signature", "timeout", "ended", "protocol" or "gradient".
    """

    def __init__(self, kind: str, facts: dict[str, Any], call: Call | None = None):
        super().__init__(kind)
        self.kind, self.facts, self.call = kind, facts, call

    @property
    def is_not_started(self) -> bool:
        """Whether a stub's own `raise NotImplementedError` was met; torch raises it too, with a text."""
        frames = self.facts.get("frames") or [[0, "", ""]]
        raised = self.facts.get("type") == "NotImplementedError" and str(frames[-1][2]).startswith("raise ")
        return raised and "NotImplementedError" in str(frames[-1][2])

    def is_a(self, name: str) -> bool:
        """Whether the learner's exception is of this class or a subclass of it."""
        return name in self.facts.get("bases", ())


@dataclass(frozen=True)
class LeftOut:
    """A top-level statement that failed while the source was loaded, by its first line, and what happened.

    The others were run all the same.
    """

    statement: int
    error: LearnerError

    @property
    def line(self) -> int:
        """The line that failed, inside of the statement."""
        frames = self.error.facts.get("frames")
        return frames[0][0] if frames else self.statement


class Remote:
    """A submission in a sandboxed worker. A worker that died is replaced before the next check."""

    def __init__(self, fork_server: ForkServer, submission: Submission, name: str, limits: Limits):
        self.fork_server, self.submission, self.name, self.limits = fork_server, submission, name, limits
        self.worker: Worker | None = None
        self.output, self.output_of_load, self.spent, self.received = "", "", 0.0, 0
        self.words = SourceWords(submission.source)
        self.hung: dict[str, float] = {}  # functions that did not end, and after how many seconds they were stopped
        self.slow: dict[str, float] = {}  # the same of calls whose memory is measured: their inputs are large
        self.names: list[str] | None = None  # what the source defines, as it was when it was loaded
        self.left_out: list[LeftOut] | None = None  # what failed when it was loaded
        self.skipped: dict[int, LeftOut] = {}  # by number: statements that end or block the process
        self.ahead = Transcript()  # what was asked ahead of the check
        self.asked_live = False  # whether the check has asked for more than that

    @property
    def source(self) -> str:
        return self.submission.source

    @property
    def is_alive(self) -> bool:
        """Whether a request would be answered without a new worker."""
        return not self.ahead.is_read or (self.worker is not None and self.worker.alive)

    def exchange(self, request: Request, tensors: list[RawTensor], function: str = "") -> tuple[Reply, list[RawTensor]]:
        """The reply to one request. Raises LearnerError where there is none, Diverged where another was asked ahead,
        Lost where the fork server is gone."""
        body = protocol.encode_request(request, tensors)
        if not self.ahead.is_read:
            return self._received(request, self.ahead.read(body))
        self.asked_live = True
        self._count(0)
        if function in self.hung:
            raise LearnerError("timeout", {"seconds": self.hung[function], "again": True})
        if not self.is_alive:
            self.load()
        return self._received(request, self._answer(body, function))

    def load(self, worker: Worker | None = None) -> None:
        """Run the source in a worker, without what fails in it. Raises LearnerError where that fails.

        worker: one that served another source, to be used again; a fresh one otherwise. Where its process ends or
        hangs, the source is run once more step by step, to find the statement that does it.
        """
        self.worker = worker if worker is not None and worker.alive else self.fork_server.spawn(self._limits())
        try:
            left_out = self._run_source()
        except LearnerError as error:
            if error.kind not in ENDINGS or worker is not None:
                raise
            left_out = self._load_stepwise(error)
        if self.left_out is None:
            found = [*left_out, *self.skipped.values()]
            self.left_out = sorted(found, key=lambda one: one.statement)

    def stopped(self) -> dict[int, LeftOut]:
        """The statements that were stopped, or ended the process, by number."""
        slow = {one.statement: one for one in self.left_out or () if one.error.kind in ENDINGS}
        lines = [first for first, _ in statements(self.source)] if slow else []
        return {number: slow[line] for number, line in enumerate(lines) if line in slow}

    @contextlib.contextmanager
    def measured(self, memory_mb: int) -> Iterator[Meter]:
        """What is asked meanwhile is answered by a worker of its own, whose memory is measured from its first moment.

        memory_mb: all that it is given. Its objects are not those of the usual worker. Raises LearnerError where the
        source cannot be loaded.
        """
        usual = self.worker, self.limits, self.hung, self.output, self.output_of_load
        most, given = self.limits.measured_s, memory_mb if self.limits.memory_mb else None
        self.limits = replace(
            self.limits, measured=True, memory_mb=given, call_s=max(most, self.limits.call_s), call_cpu_s=most
        )
        self.hung = self.hung | self.slow
        self.worker = self.fork_server.spawn(self.limits)
        try:
            self.worker.meter = meter = Meter(self.worker.pid)
            self._run_source()
            self.output, self.output_of_load = usual[3:]  # what is printed on loading was kept already
            yield meter
        finally:
            self.close()
            self.slow = {name: seconds for name, seconds in self.hung.items() if name not in usual[2]}
            self.worker, self.limits, self.hung = usual[:3]

    def why_missing(self, name: str) -> LeftOut | None:
        """The failure that explains why the source, which defines this name, does not have it after it was loaded."""
        left_out = self.left_out or []
        spans = defining(self.source, name) if left_out else []
        return next((one for one in reversed(left_out) for first, _ in spans if one.statement == first), None)

    def ask_ahead(self, requests: list[bytes], held: frozenset[int] = frozenset()) -> list[bytearray] | None:
        """Ask all that a check is going to ask. Returns the encoded replies, None if one is missing.

        requests: encoded. held: which of them wait until all before them are answered. What the check then asks is
        answered from the replies, as long as it asks the same. Where the worker ends or hangs, nothing is: which
        request it was at, only one after the other can tell.
        """
        self.drop_ahead()
        over = self.spent >= self.limits.total_s or self.received > MAX_RECEIVED
        if over or self.hung or self.worker is None or not self.is_alive:
            return None
        began = time.monotonic()
        bodies: list[bytes | bytearray | Exception] = []
        try:
            for body in self.worker.exchange_all(requests, self._seconds(), held):
                bodies.append(body)
                self._count(len(body))
        except LearnerError as error:
            bodies[-1] = error
        except MISHAPS:
            self.restart()
            return None
        finally:
            self.spent += time.monotonic() - began
        self.ahead = Transcript(requests, bodies)
        whole = [body for body in bodies if isinstance(body, bytearray)]
        return whole if len(whole) == len(bodies) else None

    def drop_ahead(self) -> None:
        """Forget what was asked ahead."""
        self.ahead, self.asked_live = Transcript(), False

    def restart(self) -> None:
        """A fresh worker: what was asked in vain shall leave no trace."""
        self.close()
        self.drop_ahead()

    def close(self) -> None:
        if self.worker is not None:
            self.worker.close()

    def _run_source(self) -> list[LeftOut]:
        """Run the source in the worker. Returns what failed in it. Raises LearnerError where that ends or hangs."""
        return self._ran(self._begin())

    def _begin(self, stepwise: bool = False) -> Reply:
        """The worker's reply to the source. Raises LearnerError."""
        seconds = self.limits.load_cpu_s or self.limits.call_s
        skip = [*{**self.skipped, **self.stopped()}]
        request = protocol.Load(
            self.source, self.submission.filename, self.name, places.is_notebook(self.source), skip,
            seconds * STEP if stepwise else seconds, stepwise,
        )  # fmt: skip
        return self._asked(request, self.limits.load_cpu_s)

    def _load_stepwise(self, error: LearnerError) -> list[LeftOut]:
        """Load the source in fresh workers until none of its statements ends or blocks one. Raises `error` else."""
        spans = statements(self.source)
        if len(spans) > MAX_STEPS:
            raise error
        output, cpu_s = (self.output, self.output_of_load), self.limits.load_cpu_s and self.limits.load_cpu_s * STEP
        while True:
            self.output, self.output_of_load = output
            self.worker = self.fork_server.spawn(self._limits())
            found, number = self._ran(self._begin(stepwise=True)), 0
            try:
                while number < len(spans):
                    found += self._ran(self._asked(protocol.Step(), cpu_s))
                    number += 1
                return found
            except LearnerError as mishap:
                if mishap.kind not in ENDINGS:
                    raise
                if len(self.skipped) == MAX_ENDINGS:
                    raise error from None
                self.skipped[number] = LeftOut(spans[number][0], mishap)

    def _asked(self, request: Request, cpu_s: float | None) -> Reply:
        """The reply to a request that loads. Raises LearnerError where there is none."""
        try:
            reply, _ = self._received(request, self._answer(protocol.encode_request(request), "", cpu_s))
        finally:
            self.hung.pop("", None)  # no function that a check could call
        if reply.error:
            raise LearnerError("exception", reply.error)
        return reply

    def _ran(self, reply: Reply) -> list[LeftOut]:
        """What a reply tells of the statements that were run."""
        if self.names is None:
            self.names = reply.names
        return [
            LeftOut(line, LearnerError("timeout", {"seconds": seconds}) if seconds else LearnerError("exception", told))
            for line, seconds, told in reply.left_out or ()
        ]

    def _answer(self, body: bytes, function: str, cpu_s: float | None = None) -> bytearray:
        """The encoded reply to an encoded request. Raises LearnerError where there is none, Lost."""
        assert self.worker is not None, "load first"
        seconds, began = self._seconds(), time.monotonic()
        try:
            reply = self.worker.exchange(body, seconds, cpu_s or self.worker.limits.call_cpu_s)
        except MISHAPS as error:
            raise self._mishap(error, function) from None
        finally:
            self.spent += time.monotonic() - began
        self._count(len(reply))
        return reply

    def _received(self, request: Request, body: bytes | bytearray) -> tuple[Reply, list[RawTensor]]:
        """A reply as the grader takes it: checked, prints kept, an exception told in the source's own words."""
        try:
            reply, tensors = protocol.decode_reply(body)
        except wire.ProtocolError as error:
            self.close()
            raise LearnerError("protocol", {"message": str(error)}) from None
        output = without_paths(reply.output)
        if len(self.output) < MAX_OUTPUT:
            self.output += output
            self.output_of_load += output if type(request) in LOADING else ""
        if reply.error:
            reply.error = self._told(reply.error)
        for row in reply.left_out or ():
            row[2] = self._told(row[2])
        if reply.names is not None:  # those of the loading: a later answer could hold a hidden input
            names = reply.names if self.names is None else self.names
            reply.names = [name for name in names if self.words.vouched(name)]
        return reply, tensors

    def _limits(self) -> Limits:
        """One loop without an end is often met through several functions: each that did not end halves the patience."""
        most = self.limits.call_cpu_s
        if not self.hung or most is None:
            return self.limits
        return replace(self.limits, call_cpu_s=max(most / 2 ** len(self.hung), min(LEAST_CPU_S, most)))

    def _seconds(self) -> float:
        """What is left for one call. Raises LearnerError where nothing is."""
        left = self.limits.total_s - self.spent
        if left <= 0:
            raise LearnerError("timeout", {"seconds": self.limits.total_s, "in_all": True})
        return min(self.limits.call_s, left)

    def _count(self, size: int) -> None:
        """Answers are kept for the diagnosis. Raises LearnerError where they would fill our memory."""
        self.received += size
        if self.received > MAX_RECEIVED:
            self.close()
            raise LearnerError("protocol", {"message": "the results are too large in all"})

    def _mishap(self, error: Exception, function: str) -> LearnerError:
        """What to tell of a request that was not answered."""
        if isinstance(error, TimedOut):
            self.hung[function] = error.seconds
            return LearnerError("timeout", {"seconds": error.seconds})
        if isinstance(error, WorkerEnded):
            return LearnerError("ended", {"status": error.status})
        return LearnerError("protocol", {"message": str(error)})

    def _told(self, error: dict[str, Any]) -> dict[str, Any]:
        """An exception with no word that the worker made up: names and lines are the source's own.

        A worker that was taken over could write a hidden input into them.
        """
        lines = self.submission.source.splitlines()
        frames = []
        for line, _, _ in error["frames"][:MAX_FRAMES]:
            if self.words.runs(line) and line <= len(lines):
                frames.append([line, self.words.function_at(line), lines[line - 1].strip()[:200]])
        return {
            **error,
            "frames": frames,
            "type": self.words.class_of(error["type"], builtins, torch, torch.linalg, metadata) or "Exception",
            "missing_module": self.words.vouched(error["missing_module"] or "") or None,
            "message": without_paths(error["message"]),
        }


class Local:
    """A trusted source (the solution, a known mistake) in this process, by the same road."""

    is_alive = True

    def __init__(self, source: str, filename: str, name: str):
        self.executor, self.source, self.words = Executor(), source, SourceWords(source)
        reply, _ = self.executor.handle(protocol.Load(source, filename, name), [])
        error = reply.error or (reply.left_out and reply.left_out[0][2])
        if error:
            raise RuntimeError(f"{filename}: {error['type']}: {error['message']}")

    @classmethod
    def load(cls: type[L], path: Path, name: str) -> L:
        """One of our own files, as the module of this name."""
        return cls(path.read_text("utf-8"), path.name, name)

    def exchange(self, request: Request, tensors: list[RawTensor], function: str = "") -> tuple[Reply, list[RawTensor]]:
        return protocol.decode_reply(self.answer(request, tensors))

    def answer(self, request: Request, tensors: list[RawTensor]) -> bytes:
        """The encoded reply."""
        state = torch.get_rng_state()  # a check draws from the same generator: it must not notice
        try:
            with _disable_current_modes():  # neither our own modes nor what they note are its business
                return protocol.encode_reply(*self.executor.handle(request, tensors))
        finally:
            torch.set_rng_state(state)


class Recorded(Local):
    """One that is asked the same again and again, once for each submission: it answers from the transcript of a check.

    While the requests are those of the first time, so are the replies. At the first one that is not, those before it
    are done for real.
    """

    def __init__(self, source: str, filename: str, name: str):
        super().__init__(source, filename, name)
        self.transcripts: BoundedCache[str, Transcript] = BoundedCache(TRANSCRIPTS)  # of each check
        self.check, self.transcript, self.live = "", Transcript(), True

    def begin(self, check: str) -> None:
        """A new run of a check."""
        if self.live and self.transcript.requests and self.check not in self.transcripts:
            self.transcripts.put(self.check, self.transcript)
        self.check, known = check, self.transcripts.get(check)
        self.live, self.transcript = known is None, known or Transcript()
        self.transcript.rewind()

    def exchange(self, request: Request, tensors: list[RawTensor], function: str = "") -> tuple[Reply, list[RawTensor]]:
        body = protocol.encode_request(request, tensors)
        if not self.live:
            try:
                return protocol.decode_reply(self.transcript.read(body))
            except Diverged:
                self.live, self.transcript = True, self.transcript.until_here()
                for past in self.transcript.requests:
                    self.answer(*protocol.decode_request(past))
        reply = self.answer(request, tensors)
        self.transcript.record(body, reply)
        return protocol.decode_reply(reply)


def without_paths(text: str) -> str:
    """A text of the worker's that does not say where the grader lies."""
    for path in OUR_PATHS:
        text = text.replace(path, "…")
    return text
