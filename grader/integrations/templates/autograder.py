"""Classroom 50's entry: grades the checkout that it is started in and writes ./result.json there.

Beside it lie kata.zip (the grader) and exercises.txt (what to grade). Exit code 0: graded, whatever the score;
anything else: the autograder itself failed, which Classroom 50 records as an error and not as a score.
"""

import importlib.util
import signal
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(sys.argv[0]).resolve().parent
NEEDED = ("torch", "numpy", "pytest", "rich")
WHEELS = "https://download.pytorch.org/whl/cpu"  # torch without CUDA is much smaller


def main() -> int:
    """Grade the checkout. Returns the exit code of the grader."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the grader too; its result.json stays
    checkout = Path.cwd()
    exercises = (HERE / "exercises.txt").read_text("utf-8").strip()
    with tempfile.TemporaryDirectory(prefix="kata-") as folder:
        kata = Path(folder)
        kata.chmod(0o755)  # a worker that runs as another user reads its own part of the grader
        with zipfile.ZipFile(HERE / "kata.zip") as archive:
            archive.extractall(kata)  # the zip of this autograder, not a learner's
        if not all(map(importlib.util.find_spec, NEEDED)):
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "-c", "constraints.txt"]
            subprocess.run([*pip, "--extra-index-url", WHEELS, *NEEDED, "tomli"], cwd=kata, check=True)
        grade = [sys.executable, "-m", "grader", "classroom50", exercises]
        grade += ["--grade", str(checkout), "--output", str(checkout / "result.json")]
        return subprocess.run(grade, cwd=kata, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
