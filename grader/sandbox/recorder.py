"""Trusted sources whose requests and replies are recorded. A repeated request is answered from the transcript."""

from collections.abc import Callable

from grader.records.bounded_cache import BoundedCache
from grader.sandbox.local import Local
from grader.sandbox.transcript import Diverged, Transcript
from grader.worker import protocol
from grader.worker.protocol import Reply, Request
from grader.worker.wire import RawTensor

TRANSCRIPTS = 64 << 20  # bytes of the transcripts that one Replayer keeps
Observer = Callable[[Request, list[RawTensor], list[RawTensor]], None]


class Recorder(Local):
    """A source whose `transcript` holds all requests and replies since `record`.

    observer: is called with each request, its tensors and those of the reply.
    """

    transcript: Transcript
    observer: Observer | None = None

    def record(self, observer: Observer | None = None) -> None:
        """Begin a new transcript."""
        self.transcript, self.observer = Transcript(), observer

    def exchange(self, request: Request, tensors: list[RawTensor], function: str = "") -> tuple[Reply, list[RawTensor]]:
        """The reply to one request, and its tensors; both are recorded."""
        reply = self.answer(request, tensors)
        self.transcript.record(protocol.encode_request(request, tensors), reply)
        answer, answer_tensors = protocol.decode_reply(reply)
        if self.observer is not None:
            self.observer(request, tensors, answer_tensors)
        return answer, answer_tensors


class Replayer(Recorder):
    """A source that every submission's checks ask the same. It answers from the transcript of the first run of a check.

    At the first request that differs from the transcript, the requests before it are executed and a new one begins.
    """

    def __init__(self, source: str, filename: str, name: str):
        super().__init__(source, filename, name)
        self.transcripts: BoundedCache[str, Transcript] = BoundedCache(TRANSCRIPTS)  # by check
        self.check, self.is_live = "", True
        self.record()

    def begin(self, check: str) -> None:
        """Begin a new run of a check."""
        if self.is_live and self.transcript.requests and self.check not in self.transcripts:
            self.transcripts.put(self.check, self.transcript)
        self.check, recorded = check, self.transcripts.get(check)
        self.is_live, self.transcript = recorded is None, recorded or Transcript()
        self.transcript.rewind()

    def exchange(self, request: Request, tensors: list[RawTensor], function: str = "") -> tuple[Reply, list[RawTensor]]:
        """The reply to one request, from the transcript as long as the requests are the same."""
        if not self.is_live:
            try:
                return protocol.decode_reply(self.transcript.read(protocol.encode_request(request, tensors)))
            except Diverged:
                self.is_live, self.transcript = True, self.transcript.until_here()
                for past in self.transcript.requests:
                    self.answer(*protocol.decode_request(past))
        return super().exchange(request, tensors, function)
