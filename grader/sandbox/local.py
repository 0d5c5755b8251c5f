"""A trusted source (the solution, a known mistake), run in this process by the same executor as in a worker."""

from pathlib import Path
from typing import TypeVar

import torch
from torch.utils._python_dispatch import _disable_current_modes

from grader.records.source import SourceWords
from grader.worker import protocol
from grader.worker.executor import Executor
from grader.worker.protocol import Reply, Request
from grader.worker.wire import RawTensor

L = TypeVar("L", bound="Local")


class Local:
    """A source in this process. It answers the same requests as a Remote, in the same way."""

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
        """The reply to one request, and its tensors."""
        return protocol.decode_reply(self.answer(request, tensors))

    def answer(self, request: Request, tensors: list[RawTensor]) -> bytes:
        """The encoded reply."""
        state = torch.get_rng_state()  # a check draws from the same generator: it must not notice
        try:
            with _disable_current_modes():  # our own modes must not see what the source computes
                return protocol.encode_reply(*self.executor.handle(request, tensors))
        finally:
            torch.set_rng_state(state)
