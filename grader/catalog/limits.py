"""The resource limits of one worker, as an exercise sets them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What one worker may use. memory_mb: megabytes above what torch itself takes; None sets no limit.

    A call is ended after `call_s` seconds of wall-clock time; after `call_cpu_s` seconds of processor time without
    newly allocated memory, or twice as many with it; and after sleeping for that long. So an endless loop is detected
    early, a busy machine does not shorten anybody's time, and an import, which allocates memory throughout, may last.
    Correct code takes at most 0.05 s, in pure Python. Loading a file may run its own tests, so it has `load_cpu_s`.
    """

    call_s: float = 5.0
    call_cpu_s: float | None = 1.0
    load_cpu_s: float | None = 2.0
    total_s: float = 60.0
    cpu_s: int = 60
    memory_mb: int | None = 1024
    open_files: int = 32
    processes: int | None = 0  # processes and threads that the code may start; None sets no limit
    output: int = 10_000  # characters of printed output that are kept
    measured: bool = False  # whether the worker's memory is measured; it then returns unused memory at once
    measured_s: float = 120.0  # of processor time, for a call whose memory is measured: its inputs are large
