"""Builds .venv on first use, and adds extras to it: `python3 grader/venv.py .venv "cpu|cuda|" [plot]`.

It runs before anything is installed, so it needs the standard library only. make calls it when `.ready`, or
`.ready-plot` for an extra, is missing in .venv or older than the files that say what belongs there. It may be stopped
at any moment: a new environment gets its name when it is whole, and while packages change `.ready` is not there.

On Linux the ordinary torch brings gigabytes of CUDA along. Where no NVIDIA driver is there, PyTorch's own index is
asked first for the build without it.
"""

import os
import signal
import sys


def stop(*_):  # type: ignore[no-untyped-def]
    """Say that it was stopped, end what was started, and end at once.

    At a terminal make was interrupted too, ends by itself, and would print an error after any exit code but 0.
    Elsewhere the next line of its rule looks whether the file was made.
    """
    for process in started:
        try:
            os.killpg(process, signal.SIGKILL)
        except OSError:  # it has ended
            pass
    try:
        os.write(2, b"\nStopped. Type the same command again: it goes on from here.\n")
    except OSError:  # the terminal was closed
        pass
    os._exit(0 if sys.stdout.isatty() and not os.environ.get("CI") else 130)


started = []  # type: list[int]  # processes that Ctrl-C ends
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # before the imports, which take a moment
    signal.signal(number, stop)
if hasattr(signal, "pthread_sigmask"):  # the Makefile holds Ctrl-C back until here
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
if sys.version_info < (3, 10):  # noqa: UP036 (whatever python3 is here runs this, so it must be able to read it)
    sys.exit("Python 3.10 or later is needed; python3 here is {}.".format(sys.version.split()[0]))  # noqa: UP032

import contextlib
import fcntl
import shutil
import subprocess
import time
from pathlib import Path

CONSTRAINTS = Path("constraints.txt")  # make runs this in the folder of the project
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
SHORT = ("--timeout", "5", "--retries", "1")  # for an index that may be out of reach; without a retry pip is silent
DRIVER = ("/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg")  # the last one: WSL
WORKS_WITHOUT = ("triton",)  # extras: the command says itself what it cannot do
# What pip prints when no package index answers, in the versions of the last years.
OFFLINE = (
    "after connection broken by", "NewConnectionError", "Failed to establish a new connection", "Failed to connect to",
    "ConnectTimeout", "ReadTimeoutError", "ProxyError", "NameResolutionError", "name resolution",
    "Network is unreachable", "Connection refused",
)  # fmt: skip
NO_INDEX = "No package index can be reached"
SHOWN = 15  # lines of what pip said, where it fails for an unknown reason
COMPILE = """
import compileall, functools, pathlib, sys
from concurrent.futures import ProcessPoolExecutor
files = map(str, pathlib.Path(sys.argv[1]).rglob("*.py"))
with ProcessPoolExecutor() as pool:
    list(pool.map(functools.partial(compileall.compile_file, quiet=2), files, chunksize=64))
"""
KIND = """
import pip, importlib.metadata as metadata
version = next((package.version for package in metadata.distributions(name="torch")), "")
print("cpu" if version.endswith("+cpu") else "cuda" if version else "none")
"""


class Problem(Exception):
    """The environment cannot be built. The text says why, and what to type."""


def main(venv: str, torch: str, extra: str = "") -> int:
    """Build the environment or add an extra, and say what takes how long. Returns the exit code."""
    with CONSTRAINTS.open() as lock:  # two terminals must not install at once
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            print("Another command installs packages here. Waiting for it …", flush=True)
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            bring(Path(venv), torch, extra, lock.fileno())
        except Problem as problem:
            print(problem, file=sys.stderr)
            return 1
    return 0


def bring(folder: Path, torch: str, extra: str, lock: int) -> None:
    """Make the environment what pyproject.toml and constraints.txt say, and add an extra. Raises Problem."""
    wanted = Path("pyproject.toml").read_text("utf-8") + CONSTRAINTS.read_text("utf-8")
    kind = kind_of_torch(folder)
    if not kind or (torch not in ("", kind) and sys.platform == "linux"):
        make(folder, torch, wanted, lock)
    ready = folder / ".ready"
    marker = folder / f".ready-{extra}" if extra else ready
    was_there, was_ready = marker.exists(), ready.exists()
    if was_ready and was_there and marker.read_text("utf-8") == wanted:
        os.utime(marker)  # git gave one of the files a new date, or Python was updated
        return
    changing = ready.replace(folder / ".changing") if was_ready else None
    for path in folder.glob("lib/python*/site-packages/*"):
        # pip writes the list of files last, and moves what it replaces to names with ~.
        if path.name[0] == "~" or (path.suffix == ".dist-info" and not (path / "RECORD").exists()):
            shutil.rmtree(path)
    try:
        what, project = (f"{extra}, fetched once", f".[{extra}]") if extra else ("what is new", ".")
        install(folder, what, ("-c", str(CONSTRAINTS), "-e", project), lock)
    except Problem as problem:  # pip has put back what was there
        is_left = was_there and str(problem).startswith(NO_INDEX)
        if changing:
            changing.replace(ready)
        if not is_left and extra not in WORKS_WITHOUT:
            raise
        print(f"{str(problem).splitlines()[0]} The packages stay as they are.", flush=True)
        if is_left:
            return  # and the next command tries again
    if extra and changing and changing.exists():
        changing.replace(ready)
    marker.write_text(wanted, "utf-8")


def make(folder: Path, torch: str, wanted: str, lock: int) -> None:
    """Build an environment in a folder of its own, which gets the other one's name at the end. Raises Problem."""
    began, new = time.monotonic(), folder.with_name(f"{folder.name}.new")
    print(f"Building {folder}, once. Torch is large: this takes a minute or two.", flush=True)
    shutil.rmtree(new, ignore_errors=True)
    failed = step("an environment of its own", [sys.executable, "-m", "venv", str(new)], lock)
    if failed is not None:
        debian = f"sudo apt install python{sys.version_info.major}.{sys.version_info.minor}-venv"
        raise Problem(
            f"{failed.strip()}\n{sys.executable} cannot make environments. On Debian and Ubuntu, type:\n  {debian}\n"
            "Then type the same command again."
        )
    # An old pip takes four times as long to choose versions. Where none can be fetched, it will do.
    step("a newer pip", [*pip_install(new), *SHORT, "-c", str(CONSTRAINTS), "pip"], lock)
    has_driver = any(map(os.path.exists, DRIVER)) or shutil.which("nvidia-smi") is not None
    if sys.platform == "linux" and wants_cpu_build(torch, has_driver):
        pinned = next(line for line in CONSTRAINTS.read_text("utf-8").split() if line.startswith("torch=="))
        try:
            install(new, "torch for the CPU", ("--no-deps", "--index-url", CPU_INDEX, *SHORT, pinned), lock)
        except Problem:
            print("    that index has none for now: the ordinary one has a larger torch, which works as well")
    install(new, "torch and what else is needed", ("-c", str(CONSTRAINTS), "-e", "."), lock)
    for program in (new / "bin").iterdir():  # they name the path of their Python
        if program.is_file() and not program.is_symlink():
            program.write_bytes(program.read_bytes().replace(bytes(new.absolute()), bytes(folder.absolute())))
    (new / ".ready").write_text(wanted, "utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    new.rename(folder)
    print(f"Ready after {time.monotonic() - began:.0f} s.", flush=True)


def wants_cpu_build(torch: str, has_driver: bool) -> bool:
    """Whether the torch without CUDA will do: where TORCH=cpu asks for it, or where there is no driver."""
    return torch == "cpu" or not (torch or has_driver)


def install(folder: Path, what: str, arguments: "tuple[str, ...]", lock: int) -> None:
    """Run pip. Raises Problem where it fails."""
    failed = step(what, [*pip_install(folder), *arguments], lock)
    if failed is None:  # pip would compile one file after the other, which takes longer than all the rest
        step("compiled on all cores", [f"{folder}/bin/python", "-c", COMPILE, f"{folder}/lib"], lock)
        return
    if any(sign in failed for sign in OFFLINE):
        raise Problem(f"{NO_INDEX}: is there a network?\nType the same command again once there is one.")
    if "No space left on device" in failed:
        raise Problem("The disk is full. Make some room, and type the same command again.")
    end = "\n".join(failed.rstrip().splitlines()[-SHOWN:])
    raise Problem(f"{end}\nThat went wrong. To try again, type the same command.")


def pip_install(folder: Path) -> "list[str]":
    """The command by which an environment installs."""
    quiet = ("--quiet", "--no-compile", "--no-input", "--disable-pip-version-check")
    return [f"{folder}/bin/python", "-m", "pip", "install", *quiet]


def step(what: str, command: "list[str]", lock: int) -> "str | None":
    """Run a command, and say what it does and for how long. Returns None, or what it said where it failed.

    It is a session of its own, so that Ctrl-C reaches this process only, which ends it and all that it started. It
    holds the lock as well: were this process killed, the next one would wait for it.
    """
    began = time.monotonic()
    print(f"  {what} …", end="", flush=True)
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", env={"PIP_RETRIES": "1", **os.environ}, pass_fds=(lock,), start_new_session=True,
    )  # fmt: skip
    started.append(process.pid)
    output, _ = process.communicate()
    started.remove(process.pid)
    print(f" {'not there' if process.returncode else 'done'} after {time.monotonic() - began:.0f} s", flush=True)
    return output if process.returncode else None


def kind_of_torch(folder: Path) -> str:
    """Which torch an environment has: "cpu", "cuda" for one with more, or "none"; "" where it does not work."""
    try:
        return subprocess.run([f"{folder}/bin/python", "-c", KIND], capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
