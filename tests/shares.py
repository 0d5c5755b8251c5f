"""What the processors' time of a class was spent on, in words: a pure function of the event "spent" in its log."""

from typing import Any

# The parts of the event, in order: of the grading processes and their workers, then of the process of the class.
PROCESSES = {
    "start": "start of grading processes and fork servers",
    "fork": "fork of workers, until they are ready",
    "kernel": "workers in the kernel: page faults and sockets",
    "code": "workers outside of it: the learner's code, and the replies",
    "stopped": "code that had to be stopped",
    "checks": "checks: requests, comparisons, messages, pictures",
    "diagnosis": "diagnosis",
}
OWN = {
    "start": "start of the command",
    "reading": "finding and entering the hand-ins",
    "storing": "handing out and storing",
    "pages": "marks and pages",
}
REST = "the rest: reading of sources, similar pairs, the end of processes"


def rows(spent: dict[str, Any], total_s: float, wall_s: float, cores: int) -> list[tuple[str, float]]:
    """Each share in words, with its seconds of processor time; last the waiting. They add up to wall_s × cores.

    spent: the event; total_s: the processor time of all processes as the system counted it.
    """
    known = [(words, spent["processes"].get(name, 0.0)) for name, words in PROCESSES.items()]
    known += [(words, spent["own"].get(name, 0.0)) for name, words in OWN.items()]
    rest = total_s - sum(seconds for _, seconds in known)
    return [*known, (REST, rest), ("waiting: no process of ours was running", wall_s * cores - total_s)]


def told(spent: dict[str, Any], total_s: float, wall_s: float, cores: int) -> str:
    """A table of the shares, and how many workers there were."""
    table = rows(spent, total_s, wall_s, cores)
    whole = wall_s * cores
    lines = [f"  {seconds:7.1f} s {seconds / whole:6.1%}  {words}" for words, seconds in table]
    lines.append(f"  {whole:7.1f} s {1:6.0%}  {wall_s:.1f} s on {cores} cores")
    workers, faults = spent["processes"].get("workers", 0), spent["processes"].get("faults", 0)
    if workers:
        lines.append(f"  {workers:.0f} workers, {faults / workers:.0f} page faults each")
    return "\n".join(lines)
