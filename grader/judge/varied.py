"""Connections that change what a check asks: other values in its arguments, or no parameters to load."""

import ctypes
import zlib

import torch

from grader.judge.proxy import Learner
from grader.judge.session import Session
from grader.records.seeds import part
from grader.sandbox.local import Local
from grader.sandbox.remote import Remote
from grader.worker import protocol
from grader.worker.codec import DTYPES
from grader.worker.protocol import Reply, Request
from grader.worker.wire import RawTensor

FLOATS = {name for name, dtype in DTYPES.items() if dtype.is_floating_point}


class Changed(Local):
    """A connection that changes requests. source and words: of the submission, as the connection before it has them."""

    def __init__(self, connection: Remote | Local):
        self.connection = connection
        self.source, self.words = connection.source, connection.words


class Varied(Changed):
    """Every float argument of a call gets other values, none of them large. Zeros stay, and what is not finite.

    signs: whether the signs change too; loads: whether parameters that are loaded get other values too, and plain: also
    what is 0 or not finite; changed: how many tensors got other values.
    """

    def __init__(
        self, connection: Remote | Local, seed: int, signs: bool = False, loads: bool = False, plain: bool = False
    ):
        super().__init__(connection)
        self.seed, self.signs, self.plain, self.changed = seed, signs, plain, 0
        self.kinds = (protocol.Call, protocol.Assign) if loads else protocol.Call

    def exchange(self, request: Request, tensors: list[RawTensor], function: str = "") -> tuple[Reply, list[RawTensor]]:
        """The reply to one request, whose tensors are varied first."""
        if isinstance(request, self.kinds):
            tensors = [self.other(raw) if raw.dtype in FLOATS and len(raw.data) else raw for raw in tensors]
        return self.connection.exchange(request, tensors, function)

    def other(self, raw: RawTensor) -> RawTensor:
        """The tensor with other values."""
        self.changed += 1
        values = torch.frombuffer(bytearray(raw.data), dtype=DTYPES[raw.dtype]).float()
        if self.plain:
            values = torch.where(values.isfinite() & (values != 0), values, 1.0)
        # Other values for other tensors: if the signs of two agreed, those of their products would stay.
        generator = torch.Generator().manual_seed(self.seed + zlib.crc32(raw.data))
        factors = 0.5 + torch.rand(len(values), generator=generator)
        if self.signs:
            factors *= torch.where(torch.rand(len(values), generator=generator) < 0.5, -1.0, 1.0)
        largest = values[values.isfinite()].abs().max() if values.isfinite().any() else torch.ones(())
        values = (values * factors / largest.clamp(min=1.0)).to(DTYPES[raw.dtype])
        return raw._replace(data=ctypes.string_at(values.data_ptr(), values.nbytes))


class Unloaded(Changed):
    """No parameters are loaded: each object keeps those that it drew. kept: how many times that was so."""

    kept = 0

    def exchange(self, request: Request, tensors: list[RawTensor], function: str = "") -> tuple[Reply, list[RawTensor]]:
        """The reply to one request; one that loads parameters is not passed on."""
        if isinstance(request, protocol.Assign):
            self.kept += 1
            return Reply(unknown=[], misshapen=[], surplus=[]), []
        return self.connection.exchange(request, tensors, function)


class Alone(Changed):
    """One call of a check reaches the code alone: those before it are given the replies that they had before.

    replies: of all calls, as they come; kept: those of an earlier run, whose last call is the one that is made. Objects
    are created all the same.
    """

    def __init__(self, connection: Remote | Local, kept: list[tuple[Reply, list[RawTensor]]] | None = None):
        super().__init__(connection)
        self.kept, self.replies = kept or [], list[tuple[Reply, list[RawTensor]]]()

    def exchange(self, request: Request, tensors: list[RawTensor], function: str = "") -> tuple[Reply, list[RawTensor]]:
        """The reply to one request."""
        if not isinstance(request, protocol.Call):
            return self.connection.exchange(request, tensors, function)
        number = len(self.replies)
        is_creation = isinstance(request.target[0], str) and request.target[0][:1].isupper()
        if number + 1 < len(self.kept) and not is_creation:
            reply = self.kept[number]
        else:
            reply = self.connection.exchange(request, tensors, function)
        self.replies.append(reply)
        return reply


class ChangedSession(Session):
    """A session whose solution is asked through a connection that changes requests too."""

    def __init__(self, session: Session, solution: Changed):
        super().__init__(session.exercise, session.seed)
        self.checks, self.solution = session.checks, solution

    def reference(self, check: str) -> Learner:
        learner = Learner(self.solution)
        learner._begin(part(self.seed, check))
        return learner
