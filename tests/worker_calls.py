"""Requests to a worker without a proxy, for tests of the protocol."""

from grader.catalog.exercise import Limits
from grader.sandbox.worker_handle import Worker
from grader.worker import protocol
from grader.worker.protocol import Reply


def load(worker: Worker, source: str, seconds: float = 20.0) -> Reply:
    request = protocol.encode_request(protocol.Load(source, "x.py", "x"))
    return protocol.decode_reply(worker.exchange(request, seconds, Limits.load_cpu_s))[0]


def call(worker: Worker, name: str, seconds: float = 20.0, cpu_s: float | None = Limits.call_cpu_s) -> Reply:
    """Call a function of the source without arguments."""
    request = protocol.encode_request(protocol.Call([name], ["list", []], ["dict", []], seed=0))
    return protocol.decode_reply(worker.exchange(request, seconds, cpu_s))[0]
