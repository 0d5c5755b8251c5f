"""Builds .venv on first use, and adds extras to it: `python3 grader/venv.py .venv [--torch cpu|cuda] [--extra plot]`.

It runs before anything is installed, so it needs the standard library alone. make calls it when `.ready`, or
`.ready-plot` for an extra, is missing in .venv or older than the files that say what belongs there. It may be stopped
at any moment: the next run finds what is half installed, and installs that again.

On Linux the ordinary torch brings gigabytes of CUDA along. Where no NVIDIA driver is there, PyTorch's own index is
asked first for the build without it, and the ordinary index where that one does not have it.
"""

import os
import signal
import sys


def stopped(*_: object) -> None:
    """Say that it was stopped, and end at once.

    At a terminal make was interrupted too, ends by itself, and would print an error after any exit code but 0.
    Elsewhere the next line of its rule looks whether the file was made.
    """
    try:
        print("\nStopped. Type the same command again: it goes on from here.", file=sys.stderr, flush=True)
    except OSError:  # the terminal was closed
        pass
    os._exit(0 if sys.stdout.isatty() and not os.environ.get("CI") else 130)


signal.signal(signal.SIGINT, stopped)  # before the imports, which take long enough for a quick Ctrl-C

import argparse
import contextlib
import fcntl
import glob
import shutil
import subprocess
import time
from collections.abc import Iterator

CONSTRAINTS = "constraints.txt"  # make runs this in the folder of the project
SOURCES = ("pyproject.toml", CONSTRAINTS)
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
SHORT = ("--timeout", "5", "--retries", "1")  # for an index that may be out of reach; without a retry pip is silent
DRIVER = ("/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg")  # the last one: WSL
EXTRAS = {
    "watch": "watchfiles",
    "plot": "matplotlib",
    "notebook": "JupyterLab",
    "docs": "mkdocs-material",
    "classroom": "nbgrader and Dask",
    "office": "Tornado, for the assistants' page",
    "tokenizers": "the tokenizers of other models",
    "triton": "Triton",
    "lint": "ruff, mypy and proselint",
    "dev": "what the tests need",
}
WORKS_WITHOUT = {
    "watch": "The watch does without it: it looks at your file five times a second.",
    "triton": "Without it the exercise is not for this machine.",
}
# What pip prints when no package index answers, in the versions of the last years.
OFFLINE = (
    "after connection broken by", "NewConnectionError", "Failed to establish a new connection", "Failed to connect to",
    "ConnectTimeout", "ReadTimeoutError", "ProxyError", "NameResolutionError", "name resolution",
    "Network is unreachable", "Connection refused",
)  # fmt: skip
SHOWN = 15  # lines of what pip said, where it fails for an unknown reason


class Problem(Exception):
    """The environment cannot be built. The text says why, and what to type."""


class Offline(Problem):
    """No package index can be reached."""


def main(arguments: list[str]) -> int:
    """Build the environment or add an extra, and say what takes how long. Returns the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("venv")
    parser.add_argument("--torch", choices=("cpu", "cuda"), default="")
    parser.add_argument("--extra", choices=EXTRAS, default="")
    options = parser.parse_args(arguments)
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)  # from here on there is something to end
    try:
        if sys.version_info < (3, 10):  # noqa: UP036 (whatever python3 is here runs this)
            raise Problem(f"Python 3.10 or later is needed; python3 here is {sys.version.split()[0]}.")
        with only_one() as lock:
            Environment(options.venv, lock).bring(options.torch, options.extra)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        stopped()
    return 0


class Environment:
    """A virtual environment with our packages in it."""

    def __init__(self, folder: str, lock: int) -> None:
        self.folder, self.lock = folder, lock
        self.python = f"{folder}/bin/python"
        self.pip = [self.python, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
        self.ready, self.changing = f"{folder}/.ready", f"{folder}/.changing"
        self.unmade = f"{folder}/.unmade"  # there while Python and pip themselves are put there

    def bring(self, torch: str, extra: str) -> None:
        """Install everything, or what an extra needs, unless it is there."""
        marker = f"{self.ready}-{extra}" if extra else self.ready
        wanted = description()
        if not torch and read(marker) == wanted and self.is_whole():
            os.utime(marker)  # git gave one of the files a new date, or Python was updated
            return
        was_ready = os.path.exists(marker) or (not extra and os.path.exists(self.changing))
        with self.set_aside():
            try:
                if extra:
                    self.add(extra)
                else:
                    self.build(torch)
            except Offline:
                if not (was_ready and self.is_whole()):
                    raise
                print("No package index can be reached, so the packages stay as they are.", flush=True)
                return
        write(marker, wanted)

    def build(self, torch: str) -> None:
        """Make the environment and install torch, what else we need, and the grader."""
        began = time.monotonic()
        print(f"Building {self.folder}, once. Torch is large: this takes a minute or two.", flush=True)
        self.make()
        with open(CONSTRAINTS, encoding="utf-8") as file:
            pinned = next(line.strip() for line in file if line.startswith("torch=="))
        has_driver = any(map(os.path.exists, DRIVER)) or shutil.which("nvidia-smi") is not None
        installed = self.torch_version()
        if (torch or "cpu") == "cpu" and sys.platform == "linux" and not (has_driver and not torch):
            if installed is None or (torch and not installed.endswith("+cpu")):
                command = [*self.pip, "--force-reinstall", "--no-deps", "--index-url", CPU_INDEX, *SHORT, pinned]
                failed = self.step("torch for the CPU, from PyTorch's own index", command)
                if failed is not None:
                    why = "cannot be reached" if is_offline(failed) else "does not have it"
                    print(f"    that index {why}: the ordinary one has a larger torch, which works as well")
        elif torch == "cuda" and installed is not None and installed.endswith("+cpu"):
            self.install("torch with CUDA", "--force-reinstall", "--no-deps", pinned)
        self.install("torch and what else is needed", "-c", CONSTRAINTS, "-e", ".")
        self.step("the grader, compiled", [self.python, "-m", "compileall", "-q", "grader"])
        print(f"Ready after {time.monotonic() - began:.0f} s.", flush=True)

    def make(self) -> None:
        """Make an environment with pip in it. One that was never finished, or lost its Python, is made again."""
        if self.is_made():
            self.forget_half_installed()
            return
        self.clear()
        failed = self.step("an environment of its own", [sys.executable, "-m", "venv", self.folder])
        if failed is not None:
            version = f"{sys.version_info.major}.{sys.version_info.minor}"
            if "ensurepip" in failed or not failed.strip():
                raise Problem(
                    f"{sys.executable} cannot make environments. On Debian and Ubuntu, type:\n"
                    f"  sudo apt install python{version}-venv\nThen type the same command again."
                )
            raise Problem(last_lines(failed))
        os.unlink(self.unmade)

    def add(self, extra: str) -> None:
        """Install what an extra needs. Where there is a way without it, that is said and the work goes on."""
        try:
            self.forget_half_installed()
            self.install(f"{EXTRAS[extra]}, fetched once", "-c", CONSTRAINTS, "-e", f".[{extra}]")
        except Problem as problem:
            if extra not in WORKS_WITHOUT:
                raise
            print(f"{str(problem).splitlines()[0]} {WORKS_WITHOUT[extra]}", flush=True)

    def install(self, what: str, *arguments: str) -> None:
        """Run pip. Raises Problem where it fails."""
        output = self.step(what, [*self.pip, *arguments])
        if output is None:
            return
        if is_offline(output):
            raise Offline(
                "No package index can be reached: is there a network? What is installed so far is kept.\n"
                "Type the same command again once there is one."
            )
        if "No space left on device" in output:
            raise Problem("The disk is full. Make some room, and type the same command again.")
        raise Problem(f"{last_lines(output)}\nThat went wrong. To try again, type the same command.")

    def is_whole(self) -> bool:
        """Whether the environment works, and nothing in it is half installed."""
        return self.is_made() and not self.half_installed()

    def is_made(self) -> bool:
        """Whether the environment has a Python that works and pip, and no package that was half replaced."""
        if os.path.exists(self.unmade) or self.in_packages("~*"):  # pip moves an older version to names with ~
            return False
        with contextlib.suppress(OSError):
            command = [self.python, "-m", "pip", "--version"]
            return subprocess.run(command, capture_output=True, check=False).returncode == 0
        return False

    def half_installed(self) -> list[str]:
        """What pip knows of packages whose installation was stopped: the list of their files is written last."""
        return [path for path in self.in_packages("*.dist-info") if not os.path.exists(f"{path}/RECORD")]

    def forget_half_installed(self) -> None:
        """Let pip install the packages again whose installation was stopped."""
        for path in self.half_installed():
            shutil.rmtree(path)

    def in_packages(self, pattern: str) -> list[str]:
        """The files and folders with such names where packages are installed."""
        return glob.glob(f"{glob.escape(self.folder)}/lib/python*/site-packages/{pattern}")

    def clear(self) -> None:
        """Empty the folder, which may be stopped as well, and mark the environment as not made."""
        os.makedirs(self.folder, exist_ok=True)
        write(self.unmade, "")
        for entry in os.scandir(self.folder):
            if entry.path == self.unmade or entry.name.startswith(".torch-"):  # this one is of the Makefile
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)

    @contextlib.contextmanager
    def set_aside(self) -> Iterator[None]:
        """Take `.ready` away while packages change. It is put back, with its date, where the packages are whole."""
        with contextlib.suppress(FileNotFoundError):
            os.replace(self.ready, self.changing)
        try:
            yield
        finally:
            if os.path.exists(self.changing) and self.is_whole():
                os.replace(self.changing, self.ready)

    def torch_version(self) -> str | None:
        """The version of the torch that is installed, as in 2.13.0+cpu; None where there is none."""
        code = "from importlib.metadata import version; print(version('torch'))"
        process = subprocess.run([self.python, "-c", code], capture_output=True, text=True, check=False)
        return process.stdout.strip() or None

    def step(self, what: str, command: list[str]) -> str | None:
        """Run a command, and show what it does and for how long. Returns None, or what it said where it failed.

        It is a session of its own, so that Ctrl-C reaches this process alone, which then ends it and all that it
        started. It holds the lock as well: were this process killed, the next one would wait for it.
        """
        began, is_terminal = time.monotonic(), sys.stdout.isatty()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={"PIP_RETRIES": "1", **os.environ},
            pass_fds=(self.lock,),
            start_new_session=True,
        )
        try:
            while True:
                if is_terminal:
                    print(f"\r  {what} … {time.monotonic() - began:.0f} s", end="", flush=True)
                try:
                    output, _ = process.communicate(timeout=1 if is_terminal else None)
                    break
                except subprocess.TimeoutExpired:
                    continue
        finally:
            end(process)
        failed = process.returncode != 0
        ending = "not there" if failed else "done"
        print(f"{chr(13) * is_terminal}  {what} … {ending} after {time.monotonic() - began:.0f} s", flush=True)
        return output if failed else None


@contextlib.contextmanager
def only_one() -> Iterator[int]:
    """Hold the lock of this checkout, so that two terminals do not install at once. Yields its descriptor."""
    with open(CONSTRAINTS, encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another command installs packages here. Waiting for it …", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:  # a file system without locks
            pass
        yield file.fileno()


def end(process: subprocess.Popen[str]) -> None:
    """End a process and all that it started, where it has not ended."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def description() -> str:
    """What the environment is built from."""
    return "".join(map(str, map(read, SOURCES)))


def read(path: str) -> str | None:
    """The text of a small file; None where there is none."""
    with contextlib.suppress(OSError), open(path, encoding="utf-8") as file:
        return file.read()
    return None


def write(path: str, text: str) -> None:
    """Write a small file."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def is_offline(output: str) -> bool:
    """Whether pip failed since no index answered."""
    return any(sign in output for sign in OFFLINE)


def last_lines(output: str) -> str:
    """The end of what a command said."""
    return "\n".join(output.rstrip().splitlines()[-SHOWN:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
