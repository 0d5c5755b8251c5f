"""Adds up the processor time of a fork server and its workers, as the kernel counted it."""

from dataclasses import dataclass, field


@dataclass
class WorkersSpent:
    """The processor time of all workers that have ended, and of their fork server.

    In seconds of processor time: `start` (of the fork server, until its first worker ended), `fork` (of the fork server
    since then, and of each worker until it was ready), `kernel` (of the workers afterwards, in the kernel: page faults
    and sockets), `code` (of the workers afterwards, outside the kernel), `stopped` (the last two for workers that were
    stopped because they took too long). workers, faults: how many workers, and page faults of theirs.
    """

    start: float = 0.0
    fork: float = 0.0
    kernel: float = 0.0
    code: float = 0.0
    stopped: float = 0.0
    workers: int = 0
    faults: int = 0
    servers: dict[int, float] = field(default_factory=dict)  # the processor time of each fork server, by its id

    def add(
        self, server: int, server_s: float, worker: tuple[float, float, int] | None, start_s: float, stopped: bool
    ) -> None:
        """Add a worker that has ended.

        server: the process id of its fork server; server_s: its seconds so far; worker: the worker's seconds outside
        the kernel and in it, and its page faults; start_s: the worker's seconds until it was ready.
        """
        if server in self.servers:
            self.fork += server_s - self.servers[server]
        else:
            self.start += server_s
        self.servers[server] = server_s
        if worker is None:
            return
        own_s, kernel_s, faults = worker
        self.workers, self.faults = self.workers + 1, self.faults + faults
        self.fork += start_s
        afterwards = max(own_s + kernel_s - start_s, 0.0)
        if stopped:
            self.stopped += afterwards
            return
        kernel_share = kernel_s / (own_s + kernel_s) if own_s + kernel_s else 0.0
        self.kernel += kernel_share * afterwards
        self.code += (1 - kernel_share) * afterwards
