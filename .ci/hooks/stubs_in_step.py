"""Pre-commit hook: every stub is what its solution makes. Needs no torch."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from grader.catalog import paths, stubs


def main() -> int:
    stale = []
    for folder in sorted(path.name for path in paths.SOLUTIONS.iterdir() if path.is_dir()):
        solution, stub = paths.solution(folder), paths.stub(folder)
        if solution.exists() and (
            not stub.exists() or stubs.make(solution.read_text("utf-8")) != stub.read_text("utf-8")
        ):
            stale.append(folder)
    for folder in stale:
        print(
            f"exercises/{folder}: the stub is not what the solution makes. Make it: make verify EX={folder[:2]} WRITE=1"
        )
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())
