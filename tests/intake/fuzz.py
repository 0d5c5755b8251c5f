"""The fuzz of intake: python tests/intake/fuzz.py [seconds] [seed] [kinds].

Names, archives, classes, notebooks and sources of strangers, for as long as it is told. The first case that ends in
anything but a verdict, takes over 1 s or 200 MB, ends the fuzz, and is printed so that it can be tried again.
"""

import collections
import sys
import tempfile
import time
import traceback
from pathlib import Path
from random import Random

sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parent)]
import survive  # noqa: E402

SHARE = {"name": 30, "source": 6, "notebook": 6, "archive": 6, "class": 1}  # of the cases


def main(seconds: float, seed: int, kinds: list[str]) -> int:
    """Prints what came of it; exit code 1 where one case did what no case may."""
    turns = [kind for kind, share in SHARE.items() for _ in range(share) if kind in kinds]
    done, accepted = collections.Counter(), collections.Counter()
    began = told = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() - began < seconds:
            number = done.total()
            kind = turns[number % len(turns)]
            try:
                accepted[kind] += survive.case(kind, Random(f"{seed} {number}"), Path(folder))
            except Exception as error:  # the find we are here for
                traceback.print_exception(error)
                print(f"case {number} of seed {seed} ({kind}): {type(error).__name__}: {error}")
                return 1
            done[kind] += 1
            if time.monotonic() - told > 60:
                told = time.monotonic()
                print(f"{done.total():,} cases in {told - began:.0f} s", flush=True)
    minutes = (time.monotonic() - began) / 60
    for kind, count in done.items():
        print(f"{kind:9} {count:9,} cases, {accepted[kind]:,} accepted")
    print(f"{done.total():,} cases, {done.total() / minutes:,.0f} a minute, none over 1 s or 200 MB (seed {seed})")
    return 0


if __name__ == "__main__":
    words = sys.argv[1:]
    wanted = words[2].split(",") if len(words) > 2 else list(SHARE)
    seed = int(words[1]) if len(words) > 1 and words[1] else Random().randrange(1 << 32)
    sys.exit(main(float(words[0]) if words else 60.0, seed, wanted))
