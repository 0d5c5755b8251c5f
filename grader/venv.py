"""Builds .venv on first use: `python3 grader/venv.py VENV [cpu|cuda]`. It runs before anything is installed.

On Linux the ordinary torch brings gigabytes of CUDA along. Where no NVIDIA driver is there, PyTorch's own index is
asked first for the build without it, and the ordinary index where that one cannot be reached.
"""

import os
import shutil
import subprocess
import sys
import time

CONSTRAINTS = "constraints.txt"  # make runs this in the folder of the project
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
SHORT = ("--timeout", "5", "--retries", "0")  # for an index that may be out of reach
DRIVER = ("/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg")  # the last one: WSL
SHOWN = 15  # lines of what pip said, where it fails


def main(venv: str, wanted: str) -> int:
    """Build the environment, and say what takes how long. Returns the exit code."""
    if sys.version_info < (3, 10):  # noqa: UP036 (whatever python3 is here runs this)
        return ended_with(f"Python 3.10 or later is needed; python3 here is {sys.version.split()[0]}.")
    if wanted not in ("", "cpu", "cuda"):
        return ended_with(f"TORCH={wanted} is unknown. Type TORCH=cpu or TORCH=cuda, or leave it out.")
    began = time.monotonic()
    print(f"Building {venv}, once. Torch is large: this takes a minute or some.", flush=True)
    python = f"{venv}/bin/python"
    if not os.path.exists(python) and step("an environment of its own", [sys.executable, "-m", "venv", venv]):
        return ended_with(f"{sys.executable} cannot make environments. On Debian and Ubuntu: apt install python3-venv")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    with open(CONSTRAINTS, encoding="utf-8") as file:
        torch = next(line.strip() for line in file if line.startswith("torch=="))
    has_driver = any(map(os.path.exists, DRIVER)) or shutil.which("nvidia-smi") is not None
    installed = version(python)
    if (wanted or "cpu") == "cpu" and sys.platform == "linux" and not (has_driver and not wanted):
        if installed is None or (wanted and not installed.endswith("+cpu")):
            command = [*pip, "--force-reinstall", "--no-deps", "--index-url", CPU_INDEX, *SHORT, torch]
            if step("torch for the CPU, from PyTorch's own index", command, optional=True):
                print("    that index cannot be reached: the ordinary one has a larger torch, which does as well")
    elif wanted == "cuda" and installed is not None and installed.endswith("+cpu"):
        if step("torch with CUDA", [*pip, "--force-reinstall", "--no-deps", torch]):
            return ended_with("Try again: make TORCH=cuda doctor")
    if step("torch and what else is needed", [*pip, "-c", CONSTRAINTS, "-e", "."]):
        return ended_with("That went wrong, see above. To try again, type the same once more.")
    step("the grader, compiled", [python, "-m", "compileall", "-q", "grader"])
    print(f"Ready after {time.monotonic() - began:.0f} s.", flush=True)
    return 0


def step(what: str, command: list[str], optional: bool = False) -> bool:
    """Run a command, and show what it does and for how long. Returns whether it failed.

    optional: its output is not worth showing where it fails.
    """
    began, is_terminal = time.monotonic(), sys.stdout.isatty()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while True:
        if is_terminal:
            print(f"\r  {what} … {time.monotonic() - began:.0f} s", end="", flush=True)
        try:
            output, _ = process.communicate(timeout=1 if is_terminal else None)
            break
        except subprocess.TimeoutExpired:
            continue
    failed = process.returncode != 0
    end = "not there" if failed else "done"
    print(f"{chr(13) * is_terminal}  {what} … {end} after {time.monotonic() - began:.0f} s", flush=True)
    if failed and not optional:
        print("\n".join(output.splitlines()[-SHOWN:]), file=sys.stderr)
    return failed


def version(python: str) -> str | None:
    """The version of the torch that is installed there, as in 2.13.0+cpu; None where there is none."""
    code = "from importlib.metadata import version; print(version('torch'))"
    process = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return process.stdout.strip() or None


def ended_with(text: str) -> int:
    """Say why it ends. Returns the exit code."""
    print(text, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""))
