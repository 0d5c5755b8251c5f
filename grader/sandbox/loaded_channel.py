"""Loads the source of a submission in a worker, and finds the statements that fail, hang, or end the process."""

from grader.catalog.limits import Limits
from grader.records import places
from grader.records.source import defining, runs_only, statements
from grader.records.submission import Submission
from grader.sandbox.call_results import LearnerError, LeftOut
from grader.sandbox.channel import Channel
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.worker_handle import Worker
from grader.worker import protocol
from grader.worker.protocol import Reply, Request

ENDINGS = ("timeout", "ended")
STEPWISE_SHARE = 0.5  # of the seconds for loading: the time of one statement that runs in a step of its own
MAX_SKIPPED = 3  # statements of a source that may end or block the process, each of which costs another process
MAX_BLOCKING = 6  # the same where what only runs, as cells that measure time do, is left out after the third one
MAX_STEPS = 2_000  # statements of a source that is run step by step


class LoadedChannel(Channel):
    """A channel to a worker that runs the source first.

    left_out: the statements that failed then; None until the source was loaded. skipped: by number, the statements that
    are not run, because they end or block the process.
    """

    def __init__(self, fork_server: ForkServer, submission: Submission, name: str, limits: Limits):
        super().__init__(fork_server, submission, name, limits)
        self.left_out: list[LeftOut] | None = None
        self.skipped: dict[int, LeftOut] = {}

    @property
    def source(self) -> str:
        """The source of the submission."""
        return self.submission.source

    def load(self, worker: Worker | None = None) -> None:
        """Run the source in a worker, without the statements that fail. Raises LearnerError where it cannot be loaded.

        worker: one that served another source, to be used again; None for a new one. Where the process of a new one
        ends or hangs, the source is run again step by step, to find the statement that causes it.
        """
        self.worker = worker if worker is not None and worker.alive else self.spawn()
        try:
            left_out = self.run_source()
        except LearnerError as error:
            if error.kind not in ENDINGS or worker is not None:
                raise
            left_out = self._load_stepwise(error)
        if self.left_out is None:
            self.left_out = sorted([*left_out, *self.skipped.values()], key=lambda left_out: left_out.statement)

    def stopped(self) -> dict[int, LeftOut]:
        """The statements that were stopped, or ended the process, by number."""
        by_line = {left_out.statement: left_out for left_out in self.left_out or () if left_out.error.kind in ENDINGS}
        lines = [first_line for first_line, _ in statements(self.source)] if by_line else []
        return {number: by_line[line] for number, line in enumerate(lines) if line in by_line}

    def why_missing(self, name: str) -> LeftOut | None:
        """The statement that failed and should have defined this name; None where there is none."""
        left_out = self.left_out or []
        spans = defining(self.source, name) if left_out else []
        first_lines = {first for first, _ in spans}
        return next((failed for failed in reversed(left_out) if failed.statement in first_lines), None)

    def run_source(self) -> list[LeftOut]:
        """Run the source in the worker. Returns what failed. Raises LearnerError where the process ends or hangs."""
        return self._failed(self._send_source())

    def _send_source(self, stepwise: bool = False) -> Reply:
        """The worker's reply to a request that loads the source. Raises LearnerError where there is none."""
        seconds = self.limits.load_cpu_s or self.limits.call_s
        skip = [*{**self.skipped, **self.stopped()}]
        request = protocol.Load(
            self.source, self.submission.filename, self.name, places.is_notebook(self.source), skip,
            seconds * STEPWISE_SHARE if stepwise else seconds, stepwise,
        )  # fmt: skip
        return self._answer_to(request, self.limits.load_cpu_s)

    def _load_stepwise(self, error: LearnerError) -> list[LeftOut]:
        """Load the source statement by statement, and again without each that ends or blocks the process.

        Returns what failed. After MAX_SKIPPED that took too long, those that follow and define nothing are left out.
        Raises `error` where there are too many such statements.
        """
        spans = statements(self.source)
        if len(spans) > MAX_STEPS:
            raise error
        output = self.output, self.output_of_load
        cpu_s = self.limits.load_cpu_s and self.limits.load_cpu_s * STEPWISE_SHARE
        endings: list[str] = []
        while True:
            self.output, self.output_of_load = output
            self.worker = self.spawn()
            failed, number = self._failed(self._send_source(stepwise=True)), 0
            try:
                while number < len(spans):
                    failed += self._failed(self._answer_to(protocol.Step(), cpu_s))
                    number += 1
                return failed
            except LearnerError as ending:
                if ending.kind not in ENDINGS:
                    raise
                endings.append(ending.kind)
                is_slow = set(endings) == {"timeout"}
                if len(endings) > (MAX_BLOCKING if is_slow else MAX_SKIPPED):
                    raise error from None
                self.skipped |= {statement: past for past in failed if (statement := _stopped(past, spans)) is not None}
                self.skipped[number] = LeftOut(spans[number][0], ending)
                if is_slow and len(endings) == MAX_SKIPPED:
                    rest = [later for later in runs_only(self.source) if later > number]
                    self.skipped |= {later: LeftOut(spans[later][0], LearnerError("unrun", {})) for later in rest}

    def _answer_to(self, request: Request, cpu_s: float | None) -> Reply:
        """The reply to a request that loads. Raises LearnerError where there is none."""
        try:
            assert self.worker is not None, "load first"
            with self.asking("") as seconds:
                body = self.worker.exchange(
                    protocol.encode_request(request), seconds, cpu_s or self.worker.limits.call_cpu_s
                )
            self.count(len(body))
            reply, _ = self.read(request, body)
        finally:
            self.hung.pop("", None)  # loading calls no function of a check
        if reply.error:
            raise LearnerError("exception", reply.error)
        return reply

    def _failed(self, reply: Reply) -> list[LeftOut]:
        """The statements that failed, as a reply tells them. The names in the first such reply are kept."""
        if self.reader.names is None:
            self.reader.names = reply.names
        limit = self.limits.load_cpu_s or self.limits.call_s
        return [
            LeftOut(line, LearnerError("timeout", {"seconds": limit}) if seconds else LearnerError("exception", error))
            for line, seconds, error in reply.left_out or ()
        ]


def _stopped(failed: LeftOut, spans: list[list[int]]) -> int | None:
    """The number of a statement that was stopped, which is not run again; None for one that failed by itself."""
    lines = [first_line for first_line, _ in spans]
    return lines.index(failed.statement) if failed.error.kind == "timeout" else None
