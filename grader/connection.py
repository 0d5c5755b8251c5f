"""The two roads to a module of functions: a sandboxed worker, or this process for our own files.

Both answer the same requests in the same way (grader/worker/executor.py).
"""

import builtins
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from grader import paths, replies
from grader.nursery import Limits, Nursery, TimedOut, Worker, WorkerEnded
from grader.process import Lost
from grader.submission import Submission
from grader.syntax import SourceWords
from grader.worker import wire
from grader.worker.executor import MAX_FRAMES, Executor

MISHAPS = (TimedOut, WorkerEnded, wire.ProtocolError)
LEAST_CPU_S = 0.25  # for one call, however many did not end before
MAX_OUTPUT = 20_000  # characters of prints that are kept of a whole submission
MAX_RECEIVED = 1 << 29  # bytes of all results of a submission
# Where the grader lies, which no message tells: a warning or a traceback that was printed may name it.
OUR_PATHS = sorted({str(paths.ROOT), sys.prefix, str(Path.home())} - {"/", "/usr", "/usr/local"}, key=len, reverse=True)


class Stop(Exception):
    """Ends a check early; it is handed on as the check's error."""


@dataclass
class Call:
    """One call that a check made, and what came of it."""

    text: str  # 'attention_weights(tensor (6, 3))'
    function: str  # 'attention_weights'
    want: str  # "output", "gradients" or "inputs"
    value: object = None
    problem: "LearnerError | None" = None
    banned: list = field(default_factory=list)  # [operation, line] pairs
    outline: str = ""  # the text without a hidden value: 'encode(a str, a dict)'


class LearnerError(Exception):
    """The learner's code did not give a result. `facts` is plain data of what happened.

    kind: "exception", "missing", "signature", "timeout", "ended", "protocol" or "gradient".
    """

    def __init__(self, kind: str, facts: dict, call: Call | None = None):
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


class Diverged(Stop):
    """The check asked for something else than foreseen: it is run again, one request after the other."""


class Remote:
    """A submission in a sandboxed worker. A worker that died is replaced before the next check."""

    def __init__(self, nursery: Nursery, submission: Submission, name: str, limits: Limits):
        self.nursery, self.submission, self.name, self.limits = nursery, submission, name, limits
        self.worker: Worker | None = None
        self.output, self.output_of_load, self.spent, self.received = "", "", 0.0, 0
        self.words = SourceWords(submission.source)
        self.hung: dict[str, float] = {}  # functions that did not end, and after how many seconds they were stopped
        self.loaded: dict = {}
        self.foreseen: list[tuple[bytes, bytearray | LearnerError]] = []  # requests and what came of them
        self.told = 0  # how many of them the check has asked for

    @property
    def source(self) -> str:
        return self.submission.source

    @property
    def answers(self) -> bool:
        """Whether a request would be answered without a new worker."""
        return self.told < len(self.foreseen) or (self.worker is not None and self.worker.alive)

    def ask(self, message: dict, tensors: list, function: str = "") -> tuple[dict, list]:
        """The reply to one request. Raises LearnerError where there is none, Diverged where another was foreseen."""
        if self.told < len(self.foreseen):
            return self._foreseen(message, tensors)
        self._count(0)
        if function in self.hung:
            raise LearnerError("timeout", {"seconds": self.hung[function], "again": True})
        if self.worker is None or not self.worker.alive:
            self.load()
        return self._request(message, tensors, function)

    def load(self) -> dict:
        """Start a worker and run the source in it. Raises LearnerError where that fails."""
        self.worker = self.nursery.spawn(self._limits())
        source, filename = self.submission.source, self.submission.filename
        message = {"op": "load", "source": source, "filename": filename, "name": self.name}
        self.loaded, _ = self._request(message, [], "")
        if "error" in self.loaded:
            raise LearnerError("exception", self.loaded["error"])
        return self.loaded

    def perform(self, requests: list[bytes]) -> list[bytes] | None:
        """Ask all that a check is going to ask, ahead of it. Gives the undecoded replies, None if one is missing.

        requests: encoded. What the check then asks is answered from the replies, as long as it asks the same. Where
        the worker ends or hangs, nothing is: which request it was at, only one after the other can tell.
        """
        self.forget()
        over = self.spent >= self.limits.total_s or self.received > MAX_RECEIVED
        if over or self.hung or not self.answers:
            return None
        began, bodies = time.monotonic(), []
        try:
            for body in self.worker.replies(requests, self._seconds()):
                bodies.append(body)
                self._count(len(body))
        except Lost:
            return None
        except LearnerError as error:
            bodies[-1] = error
        except MISHAPS:
            self.restart()
            return None
        finally:
            self.spent += time.monotonic() - began
        self.foreseen = list(zip(requests, bodies))
        return bodies if all(type(body) is bytearray for body in bodies) else None

    def forget(self) -> None:
        """No more of what was performed."""
        self.foreseen, self.told = [], 0

    def restart(self) -> None:
        """A fresh worker: what was performed in vain shall leave no trace."""
        self.close()
        self.forget()

    def _foreseen(self, message: dict, tensors: list) -> tuple[dict, list]:
        request, body = self.foreseen[self.told]
        if request != wire.encode(message, tensors):
            raise Diverged
        self.told += 1
        if isinstance(body, LearnerError):
            raise body
        try:
            return self._heard(message, *replies.opened(body))
        except wire.ProtocolError as error:
            self.close()
            raise LearnerError("protocol", {"message": str(error)}) from None

    def _request(self, message: dict, tensors: list, function: str) -> tuple[dict, list]:
        seconds = self._seconds()
        began = time.monotonic()
        try:
            reply, raw = self.worker.request(message, tensors, seconds)
        except MISHAPS as error:
            raise self._mishap(error, function) from None
        finally:
            self.spent += time.monotonic() - began
        self._count(sum(len(tensor.data) for tensor in raw))
        return self._heard(message, reply, raw)

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

    def _heard(self, message: dict, reply: dict, raw: list) -> tuple[dict, list]:
        """A reply as the grader takes it: prints kept, an exception told in the source's own words."""
        output = without_paths(reply.get("output", ""))
        if len(self.output) < MAX_OUTPUT:
            self.output += output
            self.output_of_load += output if message["op"] == "load" else ""
        if "error" in reply:
            reply["error"] = self._told(reply["error"])
        if "names" in reply:  # those of the loading: a later answer could hold a hidden input
            names = self.loaded.get("names", reply["names"])
            reply["names"] = [name for name in names if self.words.vouched(name)]
        return reply, raw

    def _told(self, error: dict) -> dict:
        """An exception with no word that the worker made up: names and lines are the source's own.

        A worker that was taken over could write a hidden input into them.
        """
        lines = self.submission.source.splitlines()
        frames = []
        for line, function, _ in error["frames"][:MAX_FRAMES]:
            if 0 < line <= len(lines):
                frames.append([line, self.words.vouched(function), lines[line - 1].strip()[:200]])
        return {
            **error,
            "frames": frames,
            "type": self.words.vouched(error["type"], builtins, torch, torch.linalg) or "Exception",
            "missing_module": self.words.vouched(error["missing_module"] or "") or None,
            "message": without_paths(error["message"]),
        }

    def close(self) -> None:
        if self.worker is not None:
            self.worker.close()


class Local:
    """A trusted source (the solution, a known wrong version) in this process, by the same road."""

    answers = True

    def __init__(self, source: str, filename: str, name: str):
        self.executor, self.source, self.words = Executor(), source, SourceWords(source)
        message = {"op": "load", "source": source, "filename": filename, "name": name}
        reply, _ = self.executor.handle(message, [])
        if "error" in reply:
            raise RuntimeError(f"{filename}: {reply['error']['type']}: {reply['error']['message']}")

    @classmethod
    def load(cls, path: Path, name: str) -> "Local":
        """One of our own files, as the module of this name."""
        return cls(path.read_text("utf-8"), path.name, name)

    def ask(self, message: dict, tensors: list, function: str = "") -> tuple[dict, list]:
        return wire.decode(self._answer(message, tensors))

    def _answer(self, message: dict, tensors: list) -> bytes:
        state = torch.get_rng_state()  # a check draws from the same generator: it must not notice
        try:
            return wire.encode(*self.executor.handle(message, tensors))
        finally:
            torch.set_rng_state(state)


class Remembering(Local):
    """One that is asked the same again and again, once for each submission: it answers from memory.

    While the requests of a check are those of the first time, so are the answers. At the first that
    is not, the ones before it are done for real.
    """

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.scripts: dict[str, list[tuple[bytes, bytes]]] = {}  # of each check
        self.script, self.told, self.live = [], 0, True

    def begin(self, check: str) -> None:
        """A new run of a check."""
        self.live, self.told = check not in self.scripts, 0
        self.script = self.scripts.setdefault(check, [])

    def ask(self, message: dict, tensors: list, function: str = "") -> tuple[dict, list]:
        request = wire.encode(message, tensors)
        if not self.live:
            if self.told < len(self.script) and self.script[self.told][0] == request:
                self.told += 1
                return wire.decode(self.script[self.told - 1][1])
            self.live, self.script = True, self.script[: self.told]  # a copy: the first time stays known
            for past, _ in self.script:
                self._answer(*wire.decode(past))
        reply = self._answer(message, tensors)
        self.script.append((request, reply))
        return wire.decode(reply)


def without_paths(text: str) -> str:
    """A text of the worker's that does not say where the grader lies."""
    for path in OUR_PATHS:
        text = text.replace(path, "…")
    return text
