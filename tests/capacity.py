"""How many cores a class needs: a model with measured numbers, and a simulation of the queue that checks it.

    python tests/capacity.py            prints the table of docs/classroom.md

Most students hand in shortly before the deadline. Of those who hand in during the last `hours`, the arrivals grow as
exp(t / τ) with τ = hours / 6: two thirds come in the last sixth. With r = rate at the deadline / rate that the cores
can grade, the last one waits τ (r − 1 − ln r) seconds where r > 1, and nobody where r ≤ 1 (a fluid queue).
"""

import heapq
import math
import random

CPU_S = 0.04  # seconds of one core for one grading, of the class that `make bench-classroom` makes up
HUNG_S, HUNG_SHARE = 2.5, 0.005  # seconds until an endless loop is ended, and the share of files with one
START_S = 8.0  # seconds until a grading process has imported torch and tested its sandbox
RUSH = 6  # hours / τ
CLASSES = (30, 200, 2_000, 20_000, 200_000, 1_000_000)  # submissions


def service_s() -> float:
    """Mean seconds of one core for one submission."""
    return CPU_S * (1 - HUNG_SHARE) + (CPU_S + HUNG_S) * HUNG_SHARE


def batch_s(submissions: int, cores: int) -> float:
    """Seconds to grade submissions that are all there at the start."""
    return START_S + submissions * service_s() / cores


def wait_s(submissions: int, cores: int, hours: float) -> float:
    """Seconds that the last submission waits, where all come during the last `hours` before the deadline."""
    tau = hours * 3600 / RUSH
    r = submissions / (tau * (1 - math.exp(-RUSH))) * service_s() / cores
    return tau * (r - 1 - math.log(r)) if r > 1 else 0.0


def cores_needed(submissions: int, hours: float, longest_s: float) -> int:
    """The smallest number of cores with which no submission waits longer than `longest_s`."""
    low, high = 1, 1
    while wait_s(submissions, high, hours) > longest_s:
        low, high = high, high * 2
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if wait_s(submissions, middle, hours) <= longest_s else (middle + 1, high)
    return high


def simulated_wait_s(submissions: int, cores: int, hours: float, seed: int = 1) -> float:
    """The same as wait_s, by a simulation in which each submission arrives, waits and is graded."""
    rng, tau, span = random.Random(seed), hours * 3600 / RUSH, hours * 3600
    arrivals = sorted(span + tau * math.log(1 - rng.random() * (1 - math.exp(-RUSH))) for _ in range(submissions))
    free_at = [0.0] * cores  # when each core is free, as a heap
    longest = 0.0
    for arrival in arrivals:
        begin = max(arrival, free_at[0])
        longest = max(longest, begin - arrival)
        hung = HUNG_S if rng.random() < HUNG_SHARE else 0.0
        heapq.heapreplace(free_at, begin + hung + CPU_S * rng.lognormvariate(-0.125, 0.5))  # of mean CPU_S
    return longest


def table() -> str:
    """The table of docs/classroom.md, as Markdown."""
    lines = ["| submissions | all at once, 2 cores | 64 cores | cores for a rush of 3 hours, nobody waits over 5 min |"]
    lines += ["|---:|---:|---:|---:|"]
    for count in CLASSES:
        cells = f"{count:,}", _time(batch_s(count, 2)), _time(batch_s(count, 64)), str(cores_needed(count, 3, 300))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _time(seconds: float) -> str:
    for size, name in ((3600, "h"), (60, "min")):
        if seconds >= size * 1.5:
            return f"{seconds / size:.1f} {name}"
    return f"{seconds:.0f} s"


if __name__ == "__main__":
    print(table())
    print("\nthe longest wait, model and simulation:")
    for count in CLASSES[2:]:
        cores = cores_needed(count, 3, 300)
        print(f"{count:>9,} on {cores:>3}: {wait_s(count, cores, 3):.0f} s, {simulated_wait_s(count, cores, 3):.0f} s")
