"""Mutates frames for as long as it is told: python tests/sandbox/fuzz_wire.py [frames] [seed].

Not a test of pytest's: run once before a release, with a million frames or more.
"""

import random
import resource
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parent)]
import frames  # noqa: E402

SLOW_S = 1.0


def main(count: int, seed: int) -> int:
    """Prints what came of it; exit code 1 where one frame did what no frame may."""
    dice, bodies = random.Random(seed), frames.honest()
    accepted = slow = 0
    began = time.monotonic()
    for number in range(count):
        body = frames.mutate(dice.choice(bodies), dice, bodies)
        start = time.monotonic()
        try:
            accepted += frames.survive(body)
        except Exception as error:  # the find we are here for
            print(f"frame {number} of seed {seed}: {type(error).__name__}: {error}\n{body!r}")
            return 1
        slow += time.monotonic() - start > SLOW_S
        if number % 100_000 == 99_999:
            print(f"{number + 1:,} frames, {accepted:,} accepted, {time.monotonic() - began:.0f} s", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{count:,} frames: {accepted:,} accepted, {count - accepted:,} refused, 0 errors, {slow} slower than 1 s,")
    print(f"{time.monotonic() - began:.0f} s, peak memory {peak} MB (seed {seed})")
    return 0


if __name__ == "__main__":
    numbers = [int(word.replace("_", "")) for word in sys.argv[1:]]
    sys.exit(main(*(numbers + [1_000_000, 1][len(numbers) :])))
