"""A submission in a sandboxed worker, as a proxy asks it: one request at a time, or measured.

Loading runs the source first, and finds the statements that fail, hang, or end the process.

Code in the worker's process can write anything into a reply, a hidden input for example. So names and lines of code are
taken from the source, and a path of this machine is left out.
"""

import builtins
import contextlib
import json
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from grader.catalog import Forbidden, paths
from grader.catalog.exercise import Limits
from grader.records import syntax
from grader.records.source import SourceWords, outline
from grader.records.submission import Submission
from grader.sandbox.call_results import LearnerError, LeftOut
from grader.sandbox.forkserver import Workers
from grader.sandbox.process import Meter
from grader.sandbox.worker_handle import TimedOut, Worker, WorkerEnded
from grader.worker import compiling, protocol, wire
from grader.worker.protocol import Reply, Request
from grader.worker.submitted_source import MAX_FRAMES
from grader.worker.wire import RawTensor

# The paths of the grader. A warning or a traceback that the learner's code prints may contain them.
OUR_PATHS = sorted({str(paths.ROOT), sys.prefix, str(Path.home())} - {"/", "/usr", "/usr/local"}, key=len, reverse=True)
INTERNALS = re.compile(r" ?\(Triggered internally at [^()\n]*\)")  # torch tells so of each of its warnings
LIBRARIES = (builtins, json, torch, torch.linalg, metadata)  # the names of their exceptions are no secret
NO_REPLY = (TimedOut, WorkerEnded, wire.ProtocolError)
MAX_OUTPUT = 20_000  # characters of prints that are kept of a whole submission
MAX_RECEIVED = 64 << 20  # bytes of all replies about a submission; those of right code are below 0.3 MB
ENDINGS = ("timeout", "ended")
STEPWISE_SHARE = 0.5  # of the seconds for loading: the time of one statement that runs in a step of its own
MAX_SKIPPED = 3  # statements of a source that may end or block the process, each of which costs another process
MAX_STEPS = 2_000  # statements of a source that is run step by step
BUSY = 4.0  # wall-clock time that a measured call may take, as a multiple of its processor time


def without_paths(text: str) -> str:
    """A text from the worker, with "…" in the place of the grader's paths, and without those of torch's sources."""
    for path in OUR_PATHS:
        text = text.replace(path, "…")
    return INTERNALS.sub("", text)


class Remote:
    """A submission in a sandboxed worker. A worker that died is replaced before the next check.

    hung: the functions that did not end, each with the facts of its LearnerError. left_out: the statements that
    failed while the source was loaded; None until then. skipped: by number, the statements that are not run, because
    they end or block the process. It also counts what the code has used so far: seconds, bytes of replies, prints.
    """

    def __init__(self, fork_server: Workers, submission: Submission, name: str, limits: Limits):
        self.fork_server, self.submission, self.name, self.limits = fork_server, submission, name, limits
        self.worker: Worker | None = None
        self.output, self.output_of_load, self.spent, self.received = "", "", 0.0, 0
        self.hung: dict[str, dict[str, Any]] = {}
        self.source, self.lines = submission.source, submission.source.splitlines()
        self.words = SourceWords(self.source)
        self.names: list[str] | None = None  # what the source defined when it was loaded; None until then
        self.left_out: list[LeftOut] | None = None
        self.skipped: dict[int, LeftOut] = {}
        self.hung_when_measured: dict[str, dict[str, Any]] = {}  # apart from `hung`, since measured calls are larger
        self._without: Remote | None = None

    @property
    def is_alive(self) -> bool:
        """Whether a request would be answered without a new worker."""
        return self.worker is not None and self.worker.alive

    def exchange(self, request: Request, tensors: list[RawTensor], function: str = "") -> tuple[Reply, list[RawTensor]]:
        """As Connection.exchange, which also says what it raises."""
        body = protocol.encode_request(request, tensors)
        owner = function.partition(".")[0]
        used_names = self.words.uses(owner) - {owner} if self.hung else set()
        for hung, facts in self.hung.items():
            if hung == function or hung.partition(".")[0] in used_names:  # it would hang once more
                raise LearnerError("timeout", facts | {"again": True})
        if not self.is_alive:
            self.load()
        return self._ask(body, None, function)

    def without_ready_made(self, rule: Forbidden) -> "Remote":
        """The same submission in a worker that has none of the ready-made functions that a rule forbids."""
        if self._without is None or self._without.limits.rule != rule:
            if self._without is not None:
                self._without.close()
            self._without = Remote(self.fork_server, self.submission, self.name, replace(self.limits, rule=rule))
        return self._without

    def compiling(self) -> "Remote":
        """The same submission in a worker that compiles its kernels for a GPU and does not run them."""
        limits = replace(self.limits, needs=(*self.limits.needs, compiling.NEED))
        return Remote(self.fork_server, self.submission, self.name, limits)

    @contextlib.contextmanager
    def measured(self, memory_mb: int, rule: Forbidden | None = None) -> Iterator[Meter]:
        """Within the block another worker answers, whose memory is measured from its first moment.

        memory_mb: all the memory that it is given. It has none of the usual worker's objects, and none of the functions
        that a rule forbids. Raises LearnerError where the source cannot be loaded.
        """
        usual = self.worker, self.limits, self.hung, self.spent
        seconds = self.limits.measured_s
        call_s = max(BUSY * seconds, self.limits.call_s)
        self.limits = replace(
            self.limits,
            rule=rule,
            measured=True,
            memory_mb=memory_mb if self.limits.memory_mb else None,
            call_s=call_s,
            call_cpu_s=seconds,
            total_s=call_s,
            cpu_s=max(int(2 * seconds), 1),
        )
        self.hung = self.hung | self.hung_when_measured
        self.spent = 0.0  # a measured call has a limit of its own, and takes nothing from the time of the others
        self.worker = self.fork_server.spawn(self.limits)
        try:
            self.worker.meter = meter = Meter(self.worker.pid)
            self.run_source()
            yield meter
        finally:
            self.close()
            self.hung_when_measured = {name: facts for name, facts in self.hung.items() if name not in usual[2]}
            self.worker, self.limits, self.hung, self.spent = usual

    def close(self) -> None:
        """End the worker, and the one without ready-made functions."""
        for running in (self._without, self.worker):
            if running is not None:
                running.close()

    def load(self, worker: Worker | None = None) -> None:
        """Run the source in a worker, without the statements that fail. Raises LearnerError where it cannot be loaded.

        worker: one that served another source, to be used again; None for a new one. Where the process of a new one
        ends or hangs, the source is run again step by step, to find the statement that causes it.
        """
        self.worker = worker if worker is not None and worker.alive else self.fork_server.spawn(self.limits)
        try:
            left_out = self.run_source()
        except LearnerError as error:
            if error.kind not in ENDINGS or worker is not None:
                raise
            left_out = self._load_stepwise(error)
        if self.left_out is None:
            self.left_out = sorted([*left_out, *self.skipped.values()], key=lambda left_out: left_out.statement)
            stopped = {left_out.statement: left_out for left_out in self.left_out if left_out.error.kind in ENDINGS}
            statements = enumerate(outline(self.source)["statements"]) if stopped else ()
            self.skipped |= {number: stopped[line] for number, (line, _) in statements if line in stopped}

    def why_missing(self, name: str) -> LeftOut | None:
        """The statement that failed and should have defined this name; None where there is none."""
        left_out = self.left_out or []
        defining = {line for line, names in outline(self.source)["statements"] if name in names} if left_out else set()
        return next((failed for failed in reversed(left_out) if failed.statement in defining), None)

    def run_source(self, stepwise: bool = False) -> list[LeftOut]:
        """Run the source in the worker, or only compile it for steps. Returns what failed.

        Raises LearnerError where the process ends or hangs.
        """
        seconds = self.limits.load_cpu_s or self.limits.call_s
        request = protocol.Load(
            self.source, self.submission.filename, self.name, syntax.is_notebook(self.source), [*self.skipped],
            seconds * STEPWISE_SHARE if stepwise else seconds, stepwise,
        )  # fmt: skip
        return self._run(request, self.limits.load_cpu_s)

    def _load_stepwise(self, error: LearnerError) -> list[LeftOut]:
        """Load the source statement by statement, and again without each that ends or blocks the process.

        Returns what failed. Raises `error` where there are more than MAX_SKIPPED such statements.
        """
        lines = [first_line for first_line, _ in outline(self.source)["statements"]]
        if len(lines) > MAX_STEPS:
            raise error
        output = self.output, self.output_of_load
        cpu_s = self.limits.load_cpu_s and self.limits.load_cpu_s * STEPWISE_SHARE
        for _ in range(MAX_SKIPPED + 1):
            self.output, self.output_of_load = output
            self.worker = self.fork_server.spawn(self.limits)
            failed, number = self.run_source(stepwise=True), 0
            try:
                while number < len(lines):
                    failed += self._run(protocol.Step(), cpu_s)
                    number += 1
                return failed
            except LearnerError as ending:
                if ending.kind not in ENDINGS:
                    raise
                self.skipped |= {lines.index(past.statement): past for past in failed if past.error.kind == "timeout"}
                self.skipped[number] = LeftOut(lines[number], ending)
        raise error from None

    def _run(self, request: Request, cpu_s: float | None) -> list[LeftOut]:
        """The statements that failed in a request that loads. The names in the first reply are kept.

        Raises LearnerError where there is no reply.
        """
        reply, _ = self._ask(protocol.encode_request(request), cpu_s)
        if reply.error:
            raise LearnerError("exception", reply.error)
        if self.names is None:
            self.names = reply.names
        limit = self.limits.load_cpu_s or self.limits.call_s
        return [
            LeftOut(line, LearnerError("timeout", {"seconds": limit}) if seconds else LearnerError("exception", error))
            for line, seconds, error in reply.left_out or ()
        ]

    def _ask(self, body: bytes, cpu_s: float | None, function: str | None = None) -> tuple[Reply, list[RawTensor]]:
        """The reply to an encoded request, and its tensors. Its time is counted and its prints are kept.

        cpu_s: that it may compute, if not as long as a call; function: None while the source is loaded. Raises as
        Connection.exchange.
        """
        assert self.worker is not None, "load first"
        remaining_s = self.limits.total_s - self.spent
        if remaining_s <= 0:
            raise LearnerError("timeout", {"seconds": self.limits.total_s, "in_all": True})
        seconds, began = min(self.limits.call_s, remaining_s), time.monotonic()
        try:
            encoded = self.worker.exchange(body, seconds, cpu_s or self.limits.call_cpu_s)
        except NO_REPLY as error:
            raise self.why_no_reply(error, function) from None
        finally:
            self.spent += time.monotonic() - began
        self.received += len(encoded)
        try:
            if self.received > MAX_RECEIVED:
                raise wire.ProtocolError("the results are too large in all")
            reply, tensors = self._read(encoded)
        except wire.ProtocolError as error:
            self.close()
            raise LearnerError("protocol", {"message": str(error)}) from None
        is_loaded_again = function is None and self.left_out is not None
        if len(self.output) < MAX_OUTPUT and not is_loaded_again:
            self.output += reply.output
            self.output_of_load += reply.output if function is None else ""
        return reply, tensors

    def _read(self, body: bytes | bytearray) -> tuple[Reply, list[RawTensor]]:
        """The reply in a body, and its tensors. Raises wire.ProtocolError."""
        reply, tensors = protocol.decode_reply(body)
        reply.output = without_paths(reply.output)
        if reply.error:
            reply.error = self._in_own_words(reply.error)
        for row in reply.left_out or ():
            row[2] = self._in_own_words(row[2])
        if reply.names is not None:  # those of the loading: a later reply could hold a hidden input
            names = reply.names if self.names is None else self.names
            reply.names = [name for name in names if self.words.confirmed(name)]
        return reply, tensors

    def _in_own_words(self, error: dict[str, Any]) -> dict[str, Any]:
        """An exception whose names and lines are those of the source; see protocol.Reply.error for its keys."""
        frames = []
        for line, _, _ in error["frames"][:MAX_FRAMES]:
            if 0 < line <= len(self.lines):
                frames.append([line, self.words.function_at(line)[2], self.lines[line - 1].strip()[:200]])
        return {
            **error,
            "frames": frames,
            "type": self.words.class_of(error["type"], *LIBRARIES) or "Exception",
            "missing_module": self.words.confirmed(error["missing_module"] or "") or None,
            "message": without_paths(error["message"]),
        }

    def why_no_reply(self, error: BaseException, function: str | None) -> LearnerError:
        """The error for a request without a reply. function: that which it called: that it hung is noted."""
        if isinstance(error, TimedOut):
            # For code that computes, the message names the same limit whichever was reached: it is always the same.
            if error.asleep and error.seconds < self.limits.call_s:  # that was all that was left
                return LearnerError("timeout", {"seconds": self.limits.total_s, "in_all": True})
            seconds = error.seconds if error.asleep else self.limits.call_cpu_s or self.limits.call_s
            facts = {"seconds": seconds, "asleep": error.asleep}
            if function is not None:
                self.hung[function] = facts
            return LearnerError("timeout", facts)
        if isinstance(error, WorkerEnded):
            return LearnerError("ended", {"status": error.status})
        return LearnerError("protocol", {"message": str(error)})
