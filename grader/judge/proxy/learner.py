"""The proxy of the learner's module, and the requests that it makes."""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from grader.catalog import Forbidden
from grader.judge.likeness import differ
from grader.judge.proxy.held_object import Proxy
from grader.judge.proxy.module import Module
from grader.judge.proxy.target import Target
from grader.sandbox.call_results import Call, LearnerError
from grader.sandbox.local import Local
from grader.sandbox.remote import Remote
from grader.sandbox.transcript import Differs
from grader.worker import protocol, wire
from grader.worker.codec import Decoder, Encoder
from grader.worker.gradients import NO_GRADIENT
from grader.worker.protocol import Reply, Request


class Learner(Proxy):
    """What a check sees: every attribute is a function or class of the learner's file.

    follows: the calls of an earlier run of the check. The first answer that differs from them raises Differs.
    """

    def __init__(
        self,
        connection: Remote | Local,
        device: str = "cpu",
        seed: int = 0,
        follows: Sequence[Call] | None = None,
    ):
        self._connection, self._device, self._seed, self._follows = connection, device, seed, follows
        self.calls: list[Call] = []
        self.notes: list[str] = []  # what a passed check tells the learner
        # The functions whose calls are all watched, because code that caches an answer would pass one watched call, and
        # the first forbidden operation in each.
        self.watched: dict[str, Forbidden] = {}
        self.hits: dict[str, list[Any]] = {}
        # By name, the proxy before the solution whose function is called in the place of a wrong one of the learner's.
        self.stand_ins: Mapping[str, Learner] = {}
        self.map_of: dict[str, int] = {}  # by class with renamed parameters: the number of the map that is right

    @property
    def source(self) -> str:
        """The learner's source."""
        return self._connection.source

    def __getattr__(self, name: str) -> "Target":
        if name.startswith("_"):
            raise AttributeError(name)
        return Target(self.stand_ins.get(name, self), [name], name)

    def _begin(self, seed: int) -> None:
        """Begin a new check: forget the objects and calls of the last one."""
        self._seed, self.calls, self.notes = seed, [], []
        if self._connection.is_alive:
            with contextlib.suppress(LearnerError):  # a worker that ends or hangs here is replaced at the next call
                self._exchange(protocol.Forget())

    def _note(self, call: Call) -> None:
        """Take note of a call whose answer is there already."""
        self.calls.append(call)
        self._compare(call.value, None)

    def _exchange(self, request: Request, encoder: Encoder | None = None, call: Call | None = None) -> tuple[Any, ...]:
        """The value in the reply to a request, and the reply. Raises LearnerError where there is no value."""
        try:
            tensors, function = encoder.tensors if encoder else [], call.function if call else ""
            reply, tensors = self._connection.exchange(request, tensors, function)
            demand_value(reply)
            value = Decoder(tensors, self._object).value(reply.value)
        except LearnerError as error:
            error.call = call
            if call:
                call.problem = error
            self._compare(None, error)
            raise
        except wire.ProtocolError as error:
            malformed = LearnerError("protocol", {"message": str(error)}, call)
            self._compare(None, malformed)
            raise malformed from None
        if call is not None:
            self._compare(value, None)
        return value, reply

    def _compare(self, value: Any, problem: LearnerError | None) -> None:
        """Raise Differs where the answer to the last call is not that of the earlier run."""
        if self._follows is not None:
            index = len(self.calls) - 1
            if index >= len(self._follows) or differ(Call("", "", "", value, problem), self._follows[index]):
                raise Differs

    def _confirmed_hit(self, hit: list[Any], rule: Forbidden) -> list[Any]:
        """A hit without what could be a hidden input.

        The name is one of the rule's or the source's, "" else; the line holds a step of a computation, 0 else.
        """
        name, line = hit
        words = self._connection.words
        return [name if name in rule.names else words.confirmed(name), line if words.computes(line) else 0]

    def _object(self, number: int, class_name: str) -> "Module":
        return Module(self, number, self._connection.words.class_of(class_name, torch.nn))


def demand_value(reply: Reply) -> None:
    """Raise LearnerError where the reply tells why there is no value."""
    if reply.error:
        raise LearnerError("exception", reply.error)
    if reply.missing:
        raise LearnerError("missing", {"missing": reply.missing, "names": reply.names})
    if reply.signature:
        raise LearnerError("signature", {"signature": reply.signature})
    if reply.gradient:
        if reply.gradient not in NO_GRADIENT:
            raise wire.ProtocolError("the reason for a missing gradient is none of ours")
        raise LearnerError("gradient", {"message": reply.gradient})
