"""Lives through a learner's first minute, both ways: `python3 .ci/first_minute.py [clone] [wheel] [--python PYTHON]`.

A fresh clone: the first command, Ctrl-C in the middle of it, the same command again, a verdict, a pass. And the wheel
in an environment of its own: `kata init`, a verdict, a pass. It says how long each step took, and fails where one does
not say what it should. --python: no network; this interpreter's packages are used in place of fresh ones.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STOPPED_AFTER_S = 4.0
LONGEST_S = 1500
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
STUB = "exercises/01_dot_product_scores/dot_product_scores.py"
SOLUTION = ROOT / "solutions/01_dot_product_scores/dot_product_scores.py"
NOT_STARTED, PASSED = "not started yet", "points · passed"
# A warm process, and what the shell around this has set, belong to no first minute.
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MAKEFLAGS", "MAKELEVEL")
}
ENVIRONMENT |= {"WARM": "0"}


class Broken(Exception):
    """A step did not end as it should."""


def main() -> int:
    """Run both ways, or the one that is named. Returns the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("ways", nargs="*", metavar="clone|wheel")
    parser.add_argument("--python", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        try:
            for way in options.ways or ("clone", "wheel"):
                WAYS[way](Path(temporary), options.python)
        except Broken as broken:
            print(broken, file=sys.stderr)
            return 1
    print("The first minute works.")
    return 0


def clone(temporary: Path, python: str) -> None:
    """A clone of this commit: make builds what it needs, is stopped, and goes on."""
    here = temporary / "attention-kata"
    step("git clone", ["git", "clone", "--quiet", ROOT.as_uri(), str(here)], temporary)
    command = ["make", "check", "EX=01", *([f"PYTHON={python}"] if python else [])]
    step("make check EX=01, and Ctrl-C", command, here, stopped=True)
    step("the same again", command, here, NOT_STARTED)
    shutil.copy(SOLUTION, here / STUB)
    step("after the work", command, here, PASSED)


def wheel(temporary: Path, python: str) -> None:
    """The wheel in an environment of its own, and a folder that `kata init` makes."""
    kata = install(build(temporary, python), temporary / "environment", python)
    here = temporary / "my-attention"
    step("kata init", [kata, "init", here.name], temporary, "is yours")
    step("kata check 01, and Ctrl-C", [kata, "check", "01"], here, stopped=True)
    step("the same again", [kata, "check", "01"], here, NOT_STARTED)
    shutil.copy(SOLUTION, here / STUB)
    step("after the work", [kata, "check", "01"], here, PASSED)


def build(temporary: Path, python: str, work: dict[str, str] | None = None) -> Path:
    """Build the wheel from a copy of what git knows here, and of what is new. Returns its path.

    work: files that somebody who works here has left, by name.
    """
    source, out = temporary / "source", temporary / "dist"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout
    for name in listed.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    for name, text in (work or {}).items():
        (source / name).write_text(text, "utf-8")
    offline = ["--no-build-isolation", "--no-index"] if python else []
    pip = [python or sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(out)]
    step("make the wheel", [*pip, *offline, str(source)], temporary)
    (made,) = out.glob("attention_kata-*.whl")
    return made


def install(made: Path, environment: Path, python: str) -> str:
    """Install the wheel into an environment of its own, where nothing of this folder is. Returns the path of `kata`."""
    own = str(environment / "bin/python")
    if not python:
        step("an environment", [sys.executable, "-m", "venv", str(environment)], made.parent)
        index = ["--extra-index-url", CPU_INDEX] if sys.platform == "linux" else []
        step("install", [own, "-m", "pip", "install", "--quiet", *index, str(made)], made.parent)
        return str(environment / "bin/kata")
    step("an environment", [python, "-m", "venv", "--without-pip", str(environment)], made.parent)
    pip = [python, "-m", "pip", "--python", own, "install", "--quiet", "--no-deps", "--no-index"]
    step("install", [*pip, str(made)], made.parent)
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    theirs, ours = (subprocess.check_output([one, "-c", ask], text=True).strip() for one in (python, own))
    (Path(ours) / "shared.pth").write_text(f"{theirs}\n", "utf-8")  # but not the files .pth that lie there
    return str(environment / "bin/kata")


def step(what: str, command: list[str], folder: Path, expected: str = "", stopped: bool = False) -> str:
    """Run one step. stopped: interrupt it after some seconds, as Ctrl-C does. Returns what it said. Raises Broken."""
    began = time.monotonic()
    process = subprocess.Popen(
        command, cwd=folder, env=ENVIRONMENT, text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    try:
        said, _ = process.communicate(timeout=STOPPED_AFTER_S if stopped else LONGEST_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT if stopped else signal.SIGKILL)
        said, _ = process.communicate(timeout=60)
    print(f"{time.monotonic() - began:6.1f} s  {what}", flush=True)
    if "Traceback" in said or expected not in said or (not expected and not stopped and process.returncode):
        raise Broken(f"{what}: {' '.join(command)}\nsaid:\n{said[-3000:]}")
    return said


WAYS = {"clone": clone, "wheel": wheel}

if __name__ == "__main__":
    sys.exit(main())
