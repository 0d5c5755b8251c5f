"""Pre-push hook for learners: grades the exercises that a push changes, as they are in the pushed commit.

One setting switches it off: git config kata.prepush false
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from grader.catalog import paths
from grader.catalog.errors import WrongUse
from grader.desk import checkout

HELP = "Push all the same: git push --no-verify. Never ask again: git config kata.prepush false"
CANNOT = 3  # the grader could not do its work: that stops nobody


def main(names: list[str]) -> int:
    asked = subprocess.run(["git", "config", "--type=bool", "--get", "kata.prepush"], capture_output=True, text=True)
    if asked.stdout.strip() == "false":
        return 0
    commit = os.environ.get("PRE_COMMIT_TO_REF", "HEAD")
    failed = False
    with tempfile.TemporaryDirectory() as place:
        for name in sorted(names):
            folder = Path(name).parts[1]
            if Path(name) != paths.stub(folder).relative_to(paths.ROOT) or not paths.exercise_toml(folder).exists():
                continue
            pushed = subprocess.run(["git", "show", f"{commit}:{name}"], capture_output=True)
            if pushed.returncode or is_fresh(folder, pushed.stdout):
                continue
            copy = Path(place, Path(name).name)
            copy.write_bytes(pushed.stdout)
            failed |= not passes(folder, copy)
    if failed:
        print(HELP)
    return failed


def is_fresh(folder: str, source: bytes) -> bool:
    try:
        return source == checkout.source(folder).encode()
    except WrongUse:
        return False


def passes(folder: str, file: Path) -> bool:
    """Grade one file and say so in one line."""
    options = [f"--submission={file}", "--format=json", "--where=0"]
    command = [sys.executable, "-m", "grader", "check", folder, *options]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        print(f"{folder}: not graded. {done.stderr.strip()}")
        return done.returncode == CANNOT
    result = json.loads(done.stdout)
    first = next((check for check in result["checks"] if check["outcome"] == "failed"), None)
    cause = result["message"] or (first and (first["diagnosis"] or first["message"])) or ""
    points = f"{result['points']:g} of {result['max_points']:g} points"
    print(f"{folder}: {points}. {cause.partition(chr(10))[0]}".rstrip())
    if result["status"] != "passed":
        print(f"  See more: make check EX={folder[:2]} SEED={result['seed']}")
    return result["status"] == "passed"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
