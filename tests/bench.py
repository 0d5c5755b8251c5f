"""The speed claims, each as a ratio measured in one run. `make bench`; never part of the tests."""

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 9
CHECK = [sys.executable, "-m", "grader", "check", "03", "--seed", "7"]
CHECK += ["--submission", str(ROOT / "tests/golden/right_answer/submission.py")]


def seconds(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def main() -> None:
    torch = [sys.executable, "-c", "import torch"]
    for command in (torch, CHECK):
        seconds(command)  # warm the disk
    pairs = [(seconds(torch), seconds(CHECK)) for _ in range(ROUNDS)]  # side by side: machines are noisy
    alone = statistics.median(first for first, _ in pairs)
    check = statistics.median(second for _, second in pairs)
    ratio = statistics.median(second / first for first, second in pairs)
    print(f"check of exercise 03: {check:.2f} s; import torch alone: {alone:.2f} s")
    print(f"ratio {ratio:.2f} (at most 1.35 is promised)")


if __name__ == "__main__":
    main()
