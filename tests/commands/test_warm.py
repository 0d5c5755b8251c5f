"""The warm process: every command both ways, what ends it, what it survives, and who cannot reach it."""

import contextlib
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from at_terminal import AtTerminal
from copies import copy
from thorough import THOROUGH, nightly, sample
from worker_calls import call, load

from grader.catalog import paths
from grader.catalog.exercise import Limits
from grader.sandbox import tiers
from grader.sandbox.forkserver import ForkServer
from grader.warm import client, control, message

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every command starts cold")
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
SOLUTION = "solutions/03_context_vectors/context_vectors.py"
CHECK = ("check", "03", "--seed", "7", "--submission", SOLUTION)
LEFT_OUT = (
    "CI",
    "GRADER_DEBUG",
    "PYTEST_VERSION",
    "PYTEST_CURRENT_TEST",
    "XDG_RUNTIME_DIR",
    "WARM",
    "COLUMNS",
    "LINES",
)
TIMES = re.compile(r'("(?:duration_s|first_pass)": |time=")[\d.]+')
KILLS, CHECKS = 20 if THOROUGH else 1, 1000
SETTLED = 45  # checks after which the fork server has moved its memory into large pages
GROWTH_MB = 8  # that a thousand checks may add
# What a worker tries: by Python's module, and by the C library, which no filter of imports sees.
ATTACK = """
import os

FOLDER, NAME = {folder!r}, {name!r}

def by_socket():
    import _socket
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.connect(os.path.join(FOLDER, NAME))
    connection.settimeout(5)
    data = {request!r}
    connection.sendall(b"%16d" % len(data) + data)
    return connection.recv(100).decode() or "no answer"

def by_c():
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    number = libc.socket(1, 1, 0)
    path = os.path.join(FOLDER, NAME).encode()
    if number < 0 or libc.connect(number, b"\\1\\0" + path + b"\\0", 3 + len(path)) < 0:
        raise OSError(ctypes.get_errno())
    return "connected"

def names():
    return os.listdir(FOLDER)[0]

def lock():
    return open(os.path.join(FOLDER, NAME + ".lock")).read()

def remove():
    os.unlink(os.path.join(FOLDER, NAME))
    return "removed"

def trace():
    return open("/proc/{pid}/mem", "rb") and "opened"
"""


class Desk:
    """A checkout of a learner's with a cache folder of its own, so that nothing else shares its warm process."""

    def __init__(self, folder: Path, root: Path | None = None) -> None:
        self.root = root or copy(folder / "checkout", "exercises", "grader", "solutions")
        if root is None:
            for name in ("pyproject.toml", "Makefile"):
                shutil.copy(paths.ROOT / name, self.root)
        self.cache = folder / "cache"
        self.cache.mkdir()
        own = {"PYTHONPATH": str(self.root), "XDG_CACHE_HOME": str(self.cache), "PYTHONDONTWRITEBYTECODE": "1"}
        self.environment = {name: value for name, value in os.environ.items() if name not in LEFT_OUT} | own

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "grader", *words]

    def run(self, *words: str, cwd: Path | None = None, **more: object) -> subprocess.CompletedProcess[str]:
        """Run a command to its end. WARM="0" is the cold way."""
        environment = self.environment | {name: str(more.pop(name)) for name in [*more] if name.isupper()}
        settings = {"capture_output": True} | more
        command = self.command(*words)
        return subprocess.run(command, cwd=cwd or self.root, env=environment, text=True, timeout=300, **settings)

    @contextlib.contextmanager
    def here(self) -> Iterator[pytest.MonkeyPatch]:
        """While this lasts, this process is one of the learner's."""
        with pytest.MonkeyPatch.context() as patch:
            for name in LEFT_OUT:
                patch.delenv(name, raising=False)
            patch.setenv("XDG_CACHE_HOME", str(self.cache))
            patch.setattr(paths, "DESK", self.root)
            yield patch

    def status(self) -> tuple[int, int, int] | None:
        """The id of the warm process, its megabytes, and how many commands it was given; None where there is none."""
        with self.here():
            found = control.status()
        return found and (found.pid, found.megabytes, found.commands)

    def warm(self) -> int:
        """Wait until there is a warm process, and start one where none is. Returns its id."""
        if self.status() is None:
            command = [sys.executable, str(self.root / "grader/__main__.py"), client.SERVE, "03_context_vectors"]
            silent = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
            subprocess.Popen(command, env=self.environment, cwd=self.root, start_new_session=True, **silent)
        assert waits_for(lambda: self.status() is not None, 120), "no warm process has come"
        return self.status()[0]

    def commands(self) -> int:
        found = self.status()
        return found[2] if found else 0

    @property
    def folder(self) -> Path:
        return self.cache / message.NAME

    def stop(self) -> None:
        self.run("stop")


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Iterator[Desk]:
    """One desk for the tests that leave its warm process as it was."""
    desk = Desk(tmp_path_factory.mktemp("warm"))
    assert desk.run(*CHECK).returncode == 0  # the first one leaves a warm process
    assert waits_for(lambda: desk.status() is not None, 120)
    yield desk
    desk.stop()


@pytest.fixture
def desk(shared, fresh) -> Desk:
    """The same desk, with an exercise 03 that is begun and has a known mistake."""
    stub = shared.root / "exercises/03_context_vectors/context_vectors.py"
    stub.write_text((shared.root / SOLUTION).read_text("utf-8").replace("dim=-1", "dim=0"), "utf-8")
    return shared


@pytest.fixture
def fresh(shared) -> Iterator[None]:
    """Afterwards the stub of 03 is what it was."""
    stub = shared.root / "exercises/03_context_vectors/context_vectors.py"
    text = stub.read_text("utf-8")
    yield
    stub.write_text(text, "utf-8")


@pytest.fixture
def own(shared, tmp_path) -> Iterator[Desk]:
    """The same checkout with a warm process for one test, which may break what it likes of that process."""
    own = Desk(tmp_path, shared.root)
    yield own
    own.stop()


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def waits_for(is_so: Callable[[], bool], seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def kept(desk: Desk) -> dict[str, str]:
    """The progress file and the last results, without times."""
    files = [desk.root / ".kata-progress.json", *sorted((desk.root / ".kata-results").glob("*"))]
    return {path.name: TIMES.sub(r"\1", path.read_text("utf-8")) for path in files if path.exists()}


def forget(desk: Desk) -> None:
    (desk.root / ".kata-progress.json").unlink(missing_ok=True)
    shutil.rmtree(desk.root / ".kata-results", ignore_errors=True)


WRONG = ("check", "03", "--seed", "7")
LINES = [
    WRONG,
    (*WRONG, "--format", "json"),
    (*WRONG, "--all", "--where", "0"),
    ("--make", *WRONG, "--where", "0", "--format", "github"),
    (*WRONG, "--where", "0", "--format", "junit", "--output", "report.xml"),
    CHECK,
    ("check", "04", "--seed", "7"),
    ("check", "99"),
    ("check", "03", "--submission", "nowhere.py"),
    ("check", "--help"),
    ("check", "03", "--colour"),
    ("try", "03"),
    ("try", "03", "--args", "attention_weights(inputs).sum()"),
    ("plot", "03"),
    ("hint", "03"),
    ("hint", "03", "--all"),
    ("hint", "03", "--task", "9"),
    ("list",),
    ("list", "--format", "json"),
    ("progress", "--format", "md"),
    ("review",),
    ("solution", "03"),
    ("solution", "03", "--force"),
]


@pytest.mark.parametrize("words", sample(LINES, 6), ids=" ".join)
def test_a_command_is_the_same_both_ways(desk, words, tmp_path):
    """Output, errors, exit code, files and progress; in another folder, with another mask, and after a check."""
    where = desk.root / "exercises"
    words = [str(desk.root / word) if word == SOLUTION else word for word in words]
    desk.warm()
    ways = []
    for warm in ("10", "0"):
        forget(desk)
        shutil.rmtree(tmp_path, ignore_errors=True)
        tmp_path.mkdir()
        if words[0] in ("hint", "progress", "list"):  # what they say depends on a verdict
            desk.run(*WRONG, "--where", "0", WARM="10")
        before = desk.commands()
        words_here = [str(tmp_path / word) if word == "report.xml" else word for word in words]
        done = desk.run(*words_here, cwd=where, WARM=warm, preexec_fn=lambda: os.umask(0o027))
        assert desk.commands() - before == (warm != "0"), "it went the other way"
        made = {(path.name, path.stat().st_mode, TIMES.sub(r"\1", path.read_text())) for path in tmp_path.iterdir()}
        ways.append((done.returncode, TIMES.sub(r"\1", done.stdout), done.stderr, made, kept(desk)))
    assert ways[0] == ways[1]


@pytest.mark.parametrize("where", ["a full disk", "a closed pipe", "errors alone"])
def test_streams_that_fail_are_the_same_both_ways(desk, where):
    desk.warm()
    ways = []
    for warm in ("10", "0"):
        with contextlib.ExitStack() as closing:
            if where == "a full disk":
                streams = {"stdout": closing.enter_context(open("/dev/full", "w")), "stderr": subprocess.PIPE}
            elif where == "a closed pipe":
                reading, writing = os.pipe()
                os.close(reading)
                closing.callback(os.close, writing)
                streams = {"stdout": writing, "stderr": subprocess.PIPE}
            else:
                streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.STDOUT}
            done = desk.run("list", WARM=warm, capture_output=False, **streams)
        ways.append((done.returncode, done.stderr))
    assert ways[0] == ways[1]


@pytest.mark.parametrize("words", [(*WRONG, "--where", "0"), ("hint", "03", "--all"), ("list",)], ids=" ".join)
def test_colours_and_width_are_the_same_both_ways(desk, words):
    desk.warm()
    shown = []
    for warm in ("10", "0"):
        before = desk.commands()
        learner = AtTerminal(desk.command(*words), desk.root, columns=61, **environment_at(desk, WARM=warm))
        code = learner.ends(120)
        shown.append((code, learner.raw.rpartition("\x1b[2K")[2]))  # after the line that says what is waited for
        learner.close()
        assert desk.commands() - before == (warm != "0")
    assert shown[0] == shown[1] and ("\x1b[" in shown[0][1] or words == ("list",))


def environment_at(desk: Desk, **more: str) -> dict[str, str]:
    """The environment for AtTerminal, which adds that of the tests."""
    return {**dict.fromkeys(LEFT_OUT, ""), **desk.environment, "TERM": "xterm-256color", **more}


@pytest.fixture
def endless(desk) -> str:
    """A submission that takes as long as the limits let it."""
    file = desk.root / "endless.py"
    file.write_text("import torch\n\n\ndef attention_weights(inputs):\n    while True:\n        pass\n")
    return str(file)


@pytest.mark.parametrize("warm", ["10", "0"])
def test_ctrl_c_stops_a_command(desk, endless, warm):
    desk.warm()
    command = desk.command("check", "03", "--submission", endless, "--timeout", "300")
    learner = AtTerminal(command, desk.root, **environment_at(desk, WARM=warm))
    learner.says("Grading 03")
    time.sleep(1)
    learner.type("\x03")
    assert learner.ends(60) == 130 and "stopped" in learner.transcript and "Traceback" not in learner.transcript
    learner.close()
    assert desk.run(*CHECK).returncode == 0


def test_ctrl_z_stops_both_and_fg_goes_on(desk):
    desk.warm()
    learner = AtTerminal(["bash", "--norc", "--noprofile", "-i"], desk.root, **environment_at(desk, PS1="ready> "))
    learner.says("ready>")
    slow = desk.root / "slow.py"
    slow.write_text(f"import time\n\ntime.sleep(1.5)\n{(desk.root / SOLUTION).read_text()}")
    learner.type(f"{' '.join(desk.command('check', '03', '--submission', str(slow)))}\n")
    learner.says("Grading 03")
    learner.type("\x1a")
    after = learner.says("Stopped")
    learner.type("fg\n")
    after = learner.says("7 of 7 points", after)
    learner.says("ready>", after)
    learner.type("exit\n")
    learner.ends(60)
    learner.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_client_that_is_killed_takes_its_child_along(desk, endless, number):
    pid = desk.warm()
    command = desk.command("check", "03", "--submission", endless, "--timeout", "300")
    process = subprocess.Popen(command, cwd=desk.root, env=desk.environment, stdout=subprocess.PIPE)
    assert waits_for(lambda: len(children(pid)) > 0)
    working = children(pid)
    process.send_signal(number)
    assert process.wait(60) == -number
    assert waits_for(lambda: not any(is_alive(child) for child in working))
    assert desk.run(*CHECK).returncode == 0 and desk.warm() == pid


def children(pid: int) -> list[int]:
    """The children of the warm process that run a command: copies of it, by their command line."""
    own = Path(f"/proc/{pid}/cmdline").read_bytes()
    found = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        with contextlib.suppress(OSError):
            found += [int(child)] if Path(f"/proc/{child}/cmdline").read_bytes() == own else []
    return found


def test_a_child_that_a_signal_kills_ends_its_client_so(desk, endless):
    pid = desk.warm()
    command = desk.command("check", "03", "--submission", endless, "--timeout", "300")
    process = subprocess.Popen(command, cwd=desk.root, env=desk.environment, stdout=subprocess.PIPE)
    assert waits_for(lambda: len(children(pid)) > 0)
    time.sleep(0.5)
    os.kill(children(pid)[0], signal.SIGKILL)
    assert process.wait(60) == -signal.SIGKILL
    assert desk.run(*CHECK).returncode == 0 and desk.warm() == pid


def test_commands_at_the_same_time(desk):
    desk.warm()
    before = desk.commands()
    running = [
        subprocess.Popen(desk.command(*CHECK), cwd=desk.root, env=desk.environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    said = {process.communicate(timeout=200)[0] for process in running}
    assert len(said) == 1 and "7 of 7 points" in said.pop()
    assert desk.commands() == before + 3


def test_a_check_is_right_after_the_warm_process_was_killed_at_any_moment(own):
    """In the middle of a check, between two, and while it starts."""
    moments = random.Random(5)
    for _ in range(KILLS):
        pid = own.warm()
        process = subprocess.Popen(
            own.command(*CHECK), cwd=own.root, env=own.environment, stdout=subprocess.PIPE, text=True
        )
        time.sleep(moments.uniform(0, 0.3))
        os.kill(pid, signal.SIGKILL)
        assert "7 of 7 points" in process.communicate(timeout=200)[0] and process.returncode == 0
        done = own.run(*CHECK)
        assert done.returncode == 0 and "7 of 7 points" in done.stdout and done.stderr == ""


@nightly
def test_a_stopped_warm_process_is_passed_by(own):
    pid = own.warm()
    os.kill(pid, signal.SIGSTOP)
    done = own.run("list")
    assert (done.returncode, done.stderr) == (0, "") and "03" in done.stdout
    assert "has ended" in own.run("stop").stdout and waits_for(lambda: not is_alive(pid))


def helpers(pid: int) -> set[int]:
    """What the warm process has started itself: fork servers, and what reads hand-ins."""
    return {int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()} - {*children(pid)}


def test_the_watch_has_fork_servers_of_its_own_and_others_go_on(desk):
    pid = desk.warm()
    before, kept_ready = desk.commands(), len(helpers(pid))
    learner = AtTerminal(desk.command("watch", "03"), desk.root, **environment_at(desk))
    learner.says("of 7 points · failed")
    assert len(children(pid)) == 1 and desk.commands() == before + 1
    done = desk.run(*CHECK)
    assert (done.returncode, desk.commands()) == (0, before + 2)
    learner.type("g")
    learner.says("any other key: back")
    assert len(children(pid)) == 2 and desk.commands() == before + 3
    learner.type("x")
    stub = desk.root / "exercises/03_context_vectors/context_vectors.py"
    after = learner.says("of 7 points · failed")
    stub.write_text((desk.root / SOLUTION).read_text("utf-8"), "utf-8")
    learner.says("7 of 7 points", after)
    learner.type("q")
    assert learner.ends(60) == 0
    learner.close()
    assert waits_for(lambda: not children(pid) and len(helpers(pid)) == kept_ready), "something was left"


@nightly
def test_stop_leaves_a_watch_alone(own, fresh):
    pid = own.warm()
    learner = AtTerminal(own.command("watch", "03"), own.root, **environment_at(own))
    learner.says("Not started")
    assert own.run("stop").stdout == "The warm process has ended.\n" and own.status() is None
    assert own.warm() != pid
    stub = own.root / "exercises/03_context_vectors/context_vectors.py"
    stub.write_text((own.root / SOLUTION).read_text("utf-8"), "utf-8")
    learner.says("7 of 7 points")
    learner.type("q")
    assert learner.ends(60) == 0 and waits_for(lambda: not is_alive(pid))
    learner.close()


def test_ctrl_z_stops_a_watch_and_fg_goes_on(desk):
    desk.warm()
    before = desk.commands()
    learner = AtTerminal(["bash", "--norc", "--noprofile", "-i"], desk.root, **environment_at(desk, PS1="ready> "))
    learner.says("ready>")
    learner.type(f"{' '.join(desk.command('watch', '03'))}\n")
    learner.says("of 7 points · failed")
    learner.type("\x1a")
    after = learner.says("Stopped")
    learner.type("fg\n")
    after = learner.says("of 7 points · failed", after)
    learner.type("q")
    learner.says("ready>", after)
    assert desk.commands() == before + 1
    learner.type("exit\n")
    learner.ends(60)
    learner.close()


def test_a_watch_in_the_background_takes_no_keys(desk):
    """It stops there, as it does the cold way."""
    desk.warm()
    before = desk.commands()
    learner = AtTerminal(["bash", "--norc", "--noprofile", "-i"], desk.root, **environment_at(desk, PS1="ready> "))
    learner.says("ready>")
    learner.type(f"{' '.join(desk.command('watch', '03'))} &\n")
    learner.type("jobs\n")
    assert waits_for(lambda: learner.type("jobs\n") or "Stopped" in learner.transcript)
    assert desk.commands() == before
    learner.type("kill %1; fg; exit\n")
    learner.close()


@pytest.mark.parametrize("warm", ["10", "0"])
def test_a_notebook_asks_it(desk, warm):
    """The answers are the same both ways, and an interrupted question ends the child."""
    pid = desk.warm()
    before = desk.commands()
    code = f"""
import json
from grader.integrations.notebook import GradingProcess
source = open({str(desk.root / SOLUTION)!r}).read()
process = GradingProcess()
for what in ("check", "matrices", "plot"):
    answer = process.ask(dict(what=what, exercise="03", source=source, name="your notebook", seed=7))
    print(json.dumps(answer))
process.end()
"""
    environment = desk.environment | {"WARM": warm}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=desk.root, env=environment, capture_output=True, text=True, timeout=200
    )
    assert "7 of 7 points" in done.stdout and done.returncode == 0, done.stderr
    assert desk.commands() == before + (warm != "0")
    assert waits_for(lambda: not children(pid))


@nightly
@pytest.mark.skipif(not ROOT, reason="root alone can mount")
@pytest.mark.parametrize("options", sample(["nr_inodes=1", "nr_inodes=2", "nr_inodes=3", "ro"], 1))
def test_a_full_or_closed_disk_goes_the_cold_way(own, options):
    """Where the folder, the lock or the socket cannot be made."""
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(own.cache)], capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        goes_the_cold_way(own)
    finally:
        subprocess.run(["umount", "-l", str(own.cache)], check=True)


def goes_the_cold_way(desk: Desk) -> None:
    """A check is right, and what it starts for the next one ends at once."""
    done = desk.run(*CHECK)
    assert (done.returncode, done.stderr) == (0, "") and "7 of 7 points" in done.stdout
    program = os.fsencode(desk.root / "grader/__main__.py") + b"\0" + client.SERVE.encode()
    cache = f"XDG_CACHE_HOME={desk.cache}".encode()

    def is_there() -> bool:
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if program in (process / "cmdline").read_bytes() and cache in (process / "environ").read_bytes():
                    return True
        return False

    assert waits_for(lambda: not is_there()) and desk.status() is None


@nightly
def test_a_folder_without_sockets_goes_the_cold_way(own):
    """As some network homes are. No process is left that has imported torch for nothing."""
    own.folder.mkdir(0o700)
    (own.folder / message.name_of(str(own.root))).mkdir()
    goes_the_cold_way(own)


@nightly
def test_memory_does_not_grow(desk):
    """Of the warm process and of all that it keeps."""
    desk.warm()
    for _ in range(SETTLED):
        assert desk.run(*CHECK).returncode == 0
    before = desk.status()
    for _ in range(CHECKS - SETTLED):
        assert desk.run(*CHECK).returncode == 0
    after = desk.status()
    assert after[0] == before[0] and after[2] == before[2] + CHECKS - SETTLED
    assert after[1] - before[1] <= GROWTH_MB


@pytest.mark.parametrize("changed", sample(["grader/judge/words.py", "solutions/03_context_vectors/mistakes.md"], 1))
def test_changed_code_is_never_answered_by_the_old(own, shared, changed):
    shared.stop()  # it has read the file too
    pid, file = own.warm(), own.root / changed
    before = file.read_text("utf-8")
    file.write_text(f"{before}\n", "utf-8")
    assert own.run("list").returncode == 0
    assert waits_for(lambda: not is_alive(pid)), "the old one goes on"
    file.write_text(before, "utf-8")


@nightly
def test_other_settings_go_the_cold_way(own):
    pid = own.warm()
    with own.here() as patch:
        usual = message.settings(str(own.root), os.environ)
        for name, value in (("PYTHONUTF8", "1"), ("LC_ALL", "C"), ("OMP_NUM_THREADS", "3"), ("PATH", "/nonexistent")):
            with patch.context() as other:
                other.setenv(name, value)
                assert message.settings(str(own.root), os.environ) != usual, name
    assert own.run("list", OMP_NUM_THREADS="3").returncode == 0
    assert waits_for(lambda: not is_alive(pid))


def test_who_does_without_starts_none_and_asks_none(own):
    assert own.run(*CHECK, CI="true").returncode == 0
    assert not own.folder.exists()
    started: list[object] = []
    with own.here() as patch:
        patch.setattr(subprocess, "Popen", lambda *given, **_: started.append(given))
        patch.setattr(client, "connect", lambda root: started.append(root))
        patch.setitem(sys.modules, "torch", sys)
        for name, value in (("WARM", "0"), *((name, "1") for name in client.WITHOUT)):
            with patch.context() as other:
                other.setenv(name, value)
                assert client.run([*CHECK], str(own.root)) is None
                client.start([*CHECK], "x")
        assert not started
        client.start([*CHECK], "x")
    assert len(started) == 1, "otherwise it starts"


def test_verbs_for_others_code_are_never_asked_for(desk):
    desk.warm()
    before = desk.commands()
    with desk.here():
        for words in (["grade", "03", SOLUTION], ["check", "03", "--device", "cpu", "--submission", SOLUTION]):
            assert client.run(words, str(desk.root)) is None
    assert not {"grade", "explain", "similar", "gradescope", "nbgrader", "verify"} & {*client.VERBS, *client.STARTING}
    answer = asked(desk, message.RUN, ["grade", "03", SOLUTION])
    assert answer.startswith(message.COLD) and desk.commands() == before


def test_a_child_has_the_soft_limits_of_its_client(desk):
    """As a terminal of an editor, which may open more files."""
    desk.warm()
    before, most = desk.commands(), resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    done = desk.run(
        *(*WRONG, "--where", "0", "--output", "report.txt"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, most)),
    )
    assert "report.txt cannot be written" in done.stderr and done.returncode == 3
    assert desk.commands() == before + 1


@nightly
def test_it_ends_by_itself(own):
    own.environment["WARM"] = "0.05"
    pid = own.warm()
    assert waits_for(lambda: not is_alive(pid), 60)
    assert [path.suffix for path in own.folder.iterdir()] == [".lock"]


@nightly
def test_it_ends_where_its_folder_is_gone(own):
    """As at log-out, and where the checkout is removed."""
    pid = own.warm()
    shutil.rmtree(own.cache)
    assert waits_for(lambda: not is_alive(pid), 60)


def test_stop_ends_it_and_doctor_shows_it(own):
    pid = own.warm()
    assert re.search(rf"warm process +{pid}, since \d\d:\d\d, holds \d+ MB", own.run("doctor").stdout)
    assert own.run("stop").stdout == "The warm process has ended.\n"
    assert not is_alive(pid)
    assert own.run("stop").stdout == "There is no warm process here.\n"


@nightly
def test_two_checkouts_have_one_each_and_a_long_path_is_no_trouble(desk, tmp_path):
    other, before = desk.warm(), desk.commands()
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    deep.mkdir(parents=True)
    own = Desk(deep)
    own.environment["XDG_CACHE_HOME"] = str(desk.cache)
    own.cache = desk.cache
    assert own.warm() != other
    assert own.run(*CHECK).returncode == 0 and own.commands() == 1
    assert desk.commands() == before
    own.stop()
    assert desk.warm() == other


@pytest.mark.parametrize(
    "fault",
    ["", "open to others", "a link", "a file", "in a shared folder", pytest.param("of another user", id="other")],
)
def test_a_folder_is_never_taken_from_others(tmp_path, monkeypatch, fault):
    cache = tmp_path / "cache"
    folder = cache / message.NAME
    cache.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    folder.mkdir(0o700)
    if fault == "open to others":
        folder.chmod(0o755)
    elif fault == "in a shared folder":
        cache.chmod(0o777)
    elif fault == "of another user":
        if not ROOT:
            pytest.skip("root alone can give a folder away")
        os.chown(folder, 12345, 12345)
    elif fault:
        folder.rename(tmp_path / "elsewhere")
        if fault == "a link":
            folder.symlink_to(tmp_path / "elsewhere")
        else:
            folder.write_text("")
    for make in (False, True):
        found = message.open_folder(make=make)
        assert (found is None) == bool(fault)
        if found is not None:
            os.close(found)


def asked(desk: Desk, want: str, words: list[str], **lower: object) -> bytes:
    """What the warm process answers to a process that speaks to its socket; b"" for nothing."""
    code = f"""
import os, sys
sys.argv = [{str(desk.root / "grader/__main__.py")!r}]
from grader.warm import client
try:
    connection = client.connect({str(desk.root)!r})
    client.send(connection, {want!r}, {words!r}, {str(desk.root)!r})
    sys.stdout.buffer.write(client.first_answer(connection))
except OSError:
    pass
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=desk.environment, cwd=desk.root, capture_output=True, timeout=60, **lower)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_process_with_the_limits_of_a_worker_gets_no_answer(desk):
    """So tier D's workers, which are processes of the same user, get none: hard limits cannot be raised again."""
    desk.warm()
    assert asked(desk, message.STATUS, []).startswith(message.TOLD)
    for name, value in (("RLIMIT_FSIZE", 0), ("RLIMIT_CPU", 60), ("RLIMIT_NOFILE", 32)):

        def lower(number: int = getattr(resource, name), value: int = value) -> None:
            resource.setrlimit(number, (value, value))

        assert asked(desk, message.STATUS, [], preexec_fn=lower) == b""
        assert asked(desk, message.STOP, [], preexec_fn=lower) == b""
    assert desk.status() is not None


@pytest.mark.skipif(not ROOT, reason="root alone can become another user")
def test_another_user_gets_no_answer_even_where_the_folder_lets_them_in(desk, tmp_path):
    pid = desk.warm()
    path = next(path for path in desk.folder.iterdir() if path.is_socket())
    code = f"""
import os, _socket
os.chdir({str(desk.folder)!r})
os.setgid(54321), os.setuid(54321)
connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
connection.connect({path.name!r})
data = {message.Request(message.STATUS, "0", "", [], [], []).encode()!r}
try:
    connection.sendall(b"%16d" % len(data) + data)
    print(connection.recv(100))
except OSError:
    print(b"")
"""
    try:
        path.chmod(0o777)
        desk.folder.chmod(0o711)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    finally:
        path.chmod(0o755)
        desk.folder.chmod(0o700)
    assert (done.stdout, done.stderr) == ("b''\n", "") and desk.warm() == pid


@pytest.mark.parametrize("name", ["A", "B", "D"])
def test_a_workers_code_does_not_reach_it(name, desk):
    """In A and B it finds nothing and connects to nothing. D has no walls; what holds there is the kernel's word."""
    try:
        tiers.choose(wanted=name, sure=True)
    except tiers.Unavailable as missing:
        pytest.skip(f"this machine has no tier {name}: {missing}")
    pid = desk.warm()
    before = desk.commands()
    path = next(path for path in desk.folder.iterdir() if path.is_socket())
    request = message.Request(message.STOP, "0", "", [], [], []).encode()
    source = ATTACK.format(folder=str(desk.folder), name=path.name, request=request, pid=pid)
    outcomes = {}
    with ForkServer(tier=name) as fork_server:
        worker = fork_server.spawn(Limits())
        assert load(worker, source).error is None
        for attempt in ("by_socket", "by_c", "names", "lock", "trace") + (("remove",) if name != "D" else ()):
            reply = call(worker, attempt)
            outcomes[attempt] = "refused" if reply.error else reply.value
        worker.close()
        is_root = ROOT and fork_server.tier.uid is None
    assert outcomes["by_socket"] in ("refused", "no answer"), outcomes
    assert outcomes["trace"] == "refused" or is_root, outcomes
    if name != "D":
        assert set(outcomes.values()) == {"refused"}, outcomes
    assert desk.status()[::2] == (pid, before)


def test_what_is_no_request_is_passed_by(desk):
    pid = desk.warm()
    code = f"""
import os, sys, _socket
from grader.warm import client
heads = [b"%16d" % number for number in (5, -5, 1 << 60, 0)]
for data in (b"", b"x", *heads, heads[0] + b"hello", b"%16d" % 9 + b"9\\0run\\0\\0\\0" , b"\\0" * 99):
    connection = client.connect({str(desk.root)!r})
    connection.sendall(data)
    connection.shutdown(_socket.SHUT_WR)
    connection.settimeout(20)
    try:
        assert connection.recv(10) == b"", data
    except ConnectionResetError:
        pass
"""
    done = subprocess.run(
        [sys.executable, "-c", code], env=desk.environment, capture_output=True, text=True, timeout=90
    )
    assert done.returncode == 0, done.stderr
    assert desk.warm() == pid and desk.run(*CHECK).returncode == 0


def test_requests_pass_the_wire_as_they_are():
    request = message.Request("run", "18", "1 2", ["a b", ""], ["check", "\udcff", ""], ["A=1\n2", "B="])
    assert vars(message.Request.decode(request.encode())) == vars(request)
    for data in (b"", b"1", b"2\0run\0\0\0" + b"0 0 0", request.encode() + b"\0x", request.encode()[:-4]):
        with pytest.raises(ValueError):
            message.Request.decode(data)


def test_the_client_imports_next_to_nothing():
    code = """
import sys
before = set(sys.modules)
from grader.warm import client
print(*sorted(set(sys.modules) - before))
"""
    here = f"import sys; sys.path.insert(0, {str(paths.ROOT)!r})\n"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", here + code],
        capture_output=True,
        text=True,
    )
    ours = {"grader", "grader.folders", "grader.warm"}
    ours |= {"grader.warm.client", "grader.warm.message"}
    of_os = {"os", "os.path", "posixpath", "genericpath", "stat", "_stat", "_collections_abc"}
    assert ours <= set(done.stdout.split()) <= ours | of_os | {"__future__", "_signal", "_socket"}, done.stdout
