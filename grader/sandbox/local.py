"""Trusted sources (the solution, a known mistake), run in this process by the same executor as in a worker."""

import re
import warnings
from pathlib import Path
from typing import TypeVar

import torch

from grader.records.bounded_cache import BoundedCache
from grader.records.source import SourceWords
from grader.worker import kernels, protocol
from grader.worker.executor import Executor
from grader.worker.protocol import Reply, Request
from grader.worker.submitted_source import SubmittedSource
from grader.worker.wire import RawTensor

RECORDS = 64 << 20  # bytes of the exchanges that one Replayer keeps
Exchange = tuple[bytes, bytes]  # a request and its reply, encoded
L = TypeVar("L", bound="Local")
IMPORTS_TRITON = re.compile(r"^[ \t]*(?:import|from)[ \t]+triton\b", re.M)


class Local:
    """A source in this process. It answers the same requests as a Remote, in the same way.

    Raises RuntimeError where something in it fails when it is run.
    """

    is_alive = True

    def __init__(self, source: str, filename: str, name: str):
        self.executor, self.source, self.words = Executor(), source, SourceWords(source)
        self.executor.source = SubmittedSource(filename, name)
        self.has_kernels = IMPORTS_TRITON.search(source) is not None
        if self.has_kernels:
            kernels.take_in()
        try:
            with warnings.catch_warnings():  # two mistakes merged into one source may read oddly, which concerns nobody
                warnings.simplefilter("ignore", SyntaxWarning)
                self.executor.source.run_whole(source)
        except Exception as error:
            raise RuntimeError(f"{filename}: {type(error).__name__}: {error}") from None

    @classmethod
    def load(cls: type[L], path: Path, name: str) -> L:
        """One of our own files, as the module of this name."""
        return cls(path.read_text("utf-8"), path.name, name)

    def exchange(self, request: Request, tensors: list[RawTensor], function: str = "") -> tuple[Reply, list[RawTensor]]:
        """The reply to one request, and its tensors."""
        return protocol.decode_reply(self.answer(request, tensors))

    def answer(self, request: Request, tensors: list[RawTensor]) -> bytes:
        """The encoded reply."""
        state = torch.get_rng_state()  # a check draws from the same generator: it must not notice
        if self.has_kernels:  # its kernels' lines are read at their first launch, by a name that all sources here share
            self.executor.source.place(self.source)
        try:
            return protocol.encode_reply(*self.executor.handle(request, tensors))
        finally:
            torch.set_rng_state(state)


class Replayer(Local):
    """A source that the checks of every submission ask the same. It answers as it did in the first run of a check.

    At the first request that differs from the recorded one, it executes the requests before it and answers live.
    """

    def __init__(self, source: str, filename: str, name: str):
        super().__init__(source, filename, name)
        self.recorded: BoundedCache[str, tuple[Exchange, ...]] = BoundedCache(RECORDS)  # by check
        self.exchanges: list[Exchange] = []  # of this run: each request and its reply
        self.check, self.is_live, self.position = "", True, 0

    def begin(self, check: str) -> None:
        """Begin a new run of a check."""
        if self.is_live and self.exchanges and self.check not in self.recorded.values:
            self.recorded.put(self.check, tuple(self.exchanges))
        exchanges = self.recorded.get(check)
        self.check, self.is_live, self.position = check, exchanges is None, 0
        self.exchanges = list(exchanges or ())

    def exchange(self, request: Request, tensors: list[RawTensor], function: str = "") -> tuple[Reply, list[RawTensor]]:
        """The reply to one request, and its tensors: the recorded ones as long as the requests are the same."""
        if not self.is_live:
            body = protocol.encode_request(request, tensors)
            if self.position < len(self.exchanges) and self.exchanges[self.position][0] == body:
                self.position += 1
                return protocol.decode_reply(self.exchanges[self.position - 1][1])
            self.is_live, self.exchanges = True, self.exchanges[: self.position]
            for past, _ in self.exchanges:
                self.answer(*protocol.decode_request(past))
        reply = self.answer(request, tensors)
        self.exchanges.append((protocol.encode_request(request, tensors), reply))
        return protocol.decode_reply(reply)
