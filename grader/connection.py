"""The two roads to a module of functions: a sandboxed worker, or this process for our own files.

Both answer the same requests in the same way (grader/worker/executor.py).
"""

import builtins
import time
from dataclasses import dataclass, field
from pathlib import Path

import torch

from grader.nursery import Limits, Nursery, TimedOut, Worker, WorkerEnded
from grader.submission import Submission
from grader.worker import wire
from grader.worker.executor import Executor

MAX_OUTPUT = 20_000  # characters of prints that are kept of a whole submission


@dataclass
class Call:
    """One call that a check made, and what came of it."""

    text: str  # 'attention_weights(tensor (6, 3))'
    function: str  # 'attention_weights'
    want: str  # "output", "gradients" or "inputs"
    value: object = None
    problem: "LearnerError | None" = None
    banned: list = field(default_factory=list)  # [operation, line] pairs


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


class Remote:
    """A submission in a sandboxed worker. A worker that died is replaced before the next check."""

    def __init__(self, nursery: Nursery, submission: Submission, name: str, limits: Limits):
        self.nursery, self.submission, self.name, self.limits = nursery, submission, name, limits
        self.worker: Worker | None = None
        self.output, self.output_of_load, self.spent = "", "", 0.0
        self.hung: set[str] = set()
        self.loaded: dict = {}

    @property
    def source(self) -> str:
        return self.submission.source

    def ask(self, message: dict, tensors: list, function: str = "") -> tuple[dict, list]:
        """The reply to one request. Raises LearnerError where there is none."""
        if function in self.hung:
            raise LearnerError("timeout", {"seconds": self.limits.call_s, "again": True})
        if self.worker is None or not self.worker.alive:
            self.load()
        return self._request(message, tensors, function)

    def load(self) -> dict:
        """Start a worker and run the source in it. Raises LearnerError where that fails."""
        self.worker = self.nursery.spawn(self.limits)
        source, filename = self.submission.source, self.submission.filename
        message = {"op": "load", "source": source, "filename": filename, "name": self.name}
        self.loaded, _ = self._request(message, [], "")
        if "error" in self.loaded:
            raise LearnerError("exception", self.loaded["error"])
        return self.loaded

    def _request(self, message: dict, tensors: list, function: str) -> tuple[dict, list]:
        left = self.limits.total_s - self.spent
        if left <= 0:
            raise LearnerError("timeout", {"seconds": self.limits.total_s, "in_all": True})
        began = time.monotonic()
        try:
            reply, raw = self.worker.request(message, tensors, min(self.limits.call_s, left))
        except TimedOut:
            self.hung.add(function)
            raise LearnerError("timeout", {"seconds": min(self.limits.call_s, left)}) from None
        except WorkerEnded as ended:
            raise LearnerError("ended", {"status": ended.status}) from None
        except wire.ProtocolError as error:
            raise LearnerError("protocol", {"message": str(error)}) from None
        finally:
            self.spent += time.monotonic() - began
        output = reply.get("output")
        if isinstance(output, str) and len(self.output) < MAX_OUTPUT:
            self.output += output
            self.output_of_load += output if message["op"] == "load" else ""
        if "error" in reply:
            reply["error"] = self._told(reply["error"])
        return reply, raw

    def _told(self, error: dict) -> dict:
        """An exception with no word that the worker made up: names and lines are the source's own.

        A worker that was taken over could write a hidden input into them.
        """
        source = self.submission.source
        lines = source.splitlines()
        frames = []
        for line, function, _ in error["frames"]:
            if 0 < line <= len(lines):
                known = function if function.isidentifier() and function in source else ""
                frames.append([line, known, lines[line - 1].strip()[:200]])
        kind, module = error["type"], error["missing_module"]
        is_known = hasattr(builtins, kind) or hasattr(torch, kind) or hasattr(torch.linalg, kind)
        return {
            **error,
            "frames": frames,
            "type": kind if is_known or (kind.isidentifier() and kind in source) else "Exception",
            "missing_module": module if module and module.partition(".")[0] in source else None,
        }

    def close(self) -> None:
        if self.worker is not None:
            self.worker.close()


class Local:
    """A trusted source (the solution, a known wrong version) in this process, by the same road."""

    def __init__(self, source: str, filename: str, name: str):
        self.executor, self.source = Executor(), source
        message = {"op": "load", "source": source, "filename": filename, "name": name}
        reply, _ = self.executor.handle(message, [])
        if "error" in reply:
            raise RuntimeError(f"{filename}: {reply['error']['type']}: {reply['error']['message']}")

    @classmethod
    def load(cls, path: Path, name: str) -> "Local":
        """One of our own files, as the module of this name."""
        return cls(path.read_text("utf-8"), path.name, name)

    def ask(self, message: dict, tensors: list, function: str = "") -> tuple[dict, list]:
        state = torch.get_rng_state()  # a check draws from the same generator: it must not notice
        try:
            reply, raw = self.executor.handle(message, tensors)
        finally:
            torch.set_rng_state(state)
        return wire.decode(wire.encode(reply, raw))
