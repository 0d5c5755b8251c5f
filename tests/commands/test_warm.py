"""The warm process: its commands both ways, what ends it, what it survives, and who cannot reach it."""

import contextlib
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from at_terminal import AtTerminal, checkout
from extras import demand_tier
from thorough import nightly, sample
from waiting import gone, soon
from worker_calls import call, load

from grader.catalog import paths
from grader.catalog.exercise import Limits
from grader.sandbox import tiers
from grader.sandbox.forkserver import ForkServer
from grader.warm import client, control, keeper, message

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every command starts cold"),
]
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
SOLUTION = "solutions/03_context_vectors/context_vectors.py"
CHECK = ("check", "03", "--seed", "7", "--submission", SOLUTION)
WRONG = ("check", "03", "--seed", "7")
LEFT_OUT = (*client.WITHOUT, "WARM", "COLUMNS", "LINES", "PYTHONPATH")
TIMES = re.compile(r'("(?:duration_s|first_pass)": |time=")[\d.]+')
KILLS = 20
# What a worker tries.
ATTACK = """
NAME = {name!r}

def by_socket():
    import _socket
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.connect(NAME)
    return "connected"

def trace():
    return open("/proc/{pid}/mem", "rb") and "opened"
"""
LINES = (
    (*WRONG, "--format", "junit"),
    (*WRONG, "--format", "json"),
    (*WRONG, "--where", "0"),
    CHECK,
    ("check", "99"),
    ("check", "--help"),
    ("try", "03"),
    ("plot", "03"),
)


class Desk:
    """A checkout of a learner's: each folder has a warm process of its own."""

    def __init__(self, root: Path) -> None:
        self.root = checkout(root)
        (self.root / "kata").write_text(
            f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(root)!r})\n"
            "from grader.__main__ import run\nrun()\n"
        )
        (self.root / "kata").chmod(0o755)
        self.environment = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
        self.environment["PYTHONDONTWRITEBYTECODE"] = "1"

    def command(self, *words: str) -> list[str]:
        return [str(self.root / "kata"), *words]

    def run(self, *words: str, program: str = "", **more: object) -> subprocess.CompletedProcess[str]:
        """Run a command to its end. WARM="0" is the cold way."""
        environment = self.environment | {name: str(more.pop(name)) for name in [*more] if name.isupper()}
        settings = {"capture_output": True, "cwd": self.root} | more
        command = [program, *words] if program else self.command(*words)
        return subprocess.run(command, env=environment, text=True, timeout=300, **settings)

    def outcome(self, *words: str, warm: str = "10") -> tuple[object, ...]:
        """Output, errors, exit code and progress of a command, in another folder, with another mask."""
        words = tuple(str(self.root / word) if word == SOLUTION else word for word in words)
        progress = self.root / ".kata-progress.json"
        progress.unlink(missing_ok=True)
        done = self.run(*words, cwd=self.root / "exercises", WARM=warm, preexec_fn=lambda: os.umask(0o027))
        made = (progress.stat().st_mode, TIMES.sub(r"\1", progress.read_text())) if progress.exists() else None
        return done.returncode, TIMES.sub(r"\1", done.stdout), done.stderr, made

    def begin(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*words), cwd=self.root, env=self.environment, stdout=subprocess.PIPE, text=True
        )

    @contextlib.contextmanager
    def here(self) -> Iterator[pytest.MonkeyPatch]:
        """While this lasts, this process is one of the learner's."""
        with pytest.MonkeyPatch.context() as patch:
            for name in LEFT_OUT:
                patch.delenv(name, raising=False)
            patch.setattr(paths, "DESK", self.root)
            yield patch

    def status(self) -> tuple[int, int] | None:
        with self.here():
            return control.status()

    def warm(self) -> int:
        """Wait until there is a warm process, and start one where none is. Returns its id."""
        if self.status() is None:
            command = [sys.executable, str(self.root / "grader/__main__.py"), client.SERVE, "03_context_vectors"]
            silent = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
            process = subprocess.Popen(command, env=self.environment, cwd="/", start_new_session=True, **silent)
            threading.Thread(target=process.wait, daemon=True).start()
        assert soon(lambda: self.status() is not None, 200), "no warm process has come"
        return self.status()[0]

    def commands(self) -> int:
        found = self.status()
        return found[1] if found else 0


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Iterator[Desk]:
    """A desk with an exercise 03 that is begun and has a known mistake."""
    desk = Desk(tmp_path_factory.mktemp("warm"))
    text = (desk.root / SOLUTION).read_text("utf-8").replace("dim=-1", "dim=0")
    (desk.root / "exercises/03_context_vectors/context_vectors.py").write_text(text, "utf-8")
    desk.first = desk.outcome(*LINES[0])  # which is cold, and leaves a warm process
    assert soon(lambda: desk.status() is not None, 200)
    yield desk
    if running := desk.status():
        os.kill(running[0], signal.SIGTERM)


@pytest.fixture
def desk(shared) -> Desk:
    shared.warm()
    return shared


def children(pid: int) -> list[int]:
    """The children of the warm process that run a command: copies of it, by their command line."""
    own, found = Path(f"/proc/{pid}/cmdline").read_bytes(), []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        with contextlib.suppress(OSError):
            found += [int(child)] if Path(f"/proc/{child}/cmdline").read_bytes() == own else []
    return found


def test_a_command_is_the_same_both_ways(desk):
    """Output, errors, exit code, files and progress, also after a check."""
    for words in sample(LINES, 2):
        before = desk.commands()
        cold = desk.first if words == LINES[0] else desk.outcome(*words, warm="0")
        assert desk.commands() == before, "it went the other way"
        assert desk.outcome(*words) == cold, words
        assert desk.commands() == before + 1, "it went the other way"


def test_a_relative_path_make_and_the_full_path_are_all_warm(desk):
    pid = desk.warm()
    for program, words in (
        ("./kata", CHECK),
        (str(desk.root / "kata"), CHECK),
        (sys.executable, ("-m", "grader", *CHECK)),
    ):
        before = desk.commands()
        assert desk.run(*words, program=program).returncode == 0
        assert desk.status() == (pid, before + 1), program
    make = ("check", "EX=03", f"SUBMISSION={SOLUTION}", f"PYTHON={sys.executable}")
    assert desk.run(*make, program="make").returncode == 0 and desk.status() == (pid, before + 2)


def test_a_busy_machine_is_waited_for(desk):
    """The warm process gets no processor for longer than a command takes to start."""
    pid, before = desk.warm(), desk.commands()
    os.kill(pid, signal.SIGSTOP)
    process = desk.begin(*CHECK)
    time.sleep(6)
    os.kill(pid, signal.SIGCONT)
    assert "7 of 7 points" in process.communicate(timeout=200)[0] and desk.status() == (pid, before + 1)


def test_ctrl_z_stops_both_and_fg_goes_on(desk):
    slow = desk.root / "slow.py"
    slow.write_text(f"import time\n\ntime.sleep(1.5)\n{(desk.root / SOLUTION).read_text()}")
    environment = {**dict.fromkeys(LEFT_OUT, ""), **desk.environment, "TERM": "xterm-256color", "PS1": "ready> "}
    with AtTerminal(["bash", "--norc", "--noprofile", "-i"], desk.root, columns=61, **environment) as learner:
        learner.says("ready>")
        learner.type(f"{' '.join(desk.command('check', '03', '--submission', str(slow)))}\n")
        learner.says("Grading 03")
        learner.type("\x1a")
        after = learner.says("Stopped")
        learner.type("fg\n")
        learner.says("7 of 7 points", after)
        learner.type("exit\n")
        learner.ends(60)


@pytest.mark.parametrize("whom", ["the client", "the child"])
def test_client_and_child_end_together(desk, whom):
    pid, endless = desk.warm(), desk.root / "endless.py"
    endless.write_text("import torch\n\n\ndef attention_weights(inputs):\n    while True:\n        pass\n")
    process = desk.begin("check", "03", "--submission", str(endless), "--timeout", "300")
    assert soon(lambda: len(children(pid)) > 0, 100)
    working = children(pid)
    time.sleep(0.5)
    os.kill(process.pid if whom == "the client" else working[0], signal.SIGKILL)
    assert process.wait(60) == (-signal.SIGKILL if whom == "the client" else client.NOT_DONE)
    assert gone(*working, seconds=100)
    assert desk.run(*CHECK).returncode == 0 and desk.warm() == pid


def test_one_command_at_a_time_is_warm_and_the_others_are_right(desk):
    before = desk.commands()
    running = [desk.begin(*CHECK) for _ in range(2)]
    said = {process.communicate(timeout=300)[0] for process in running}
    assert len(said) == 1 and "7 of 7 points" in said.pop() and desk.commands() > before


def test_another_setting_is_cold_and_ends_nothing(desk, tmp_path):
    found = desk.status()
    short = ("check", "--help")  # which grades nothing
    (tmp_path / "bwrap").touch(0o755)  # of PATH only this counts
    for name, value in {"OMP_NUM_THREADS": "3", "LC_ALL": "C", "PATH": tmp_path}.items():
        assert desk.run(*short, **{name: value}).returncode == 0 and desk.status() == found, name
    assert desk.run(*short, preexec_fn=lambda: os.nice(1)).returncode == 0 and desk.status() == found
    assert desk.run(*short).returncode == 0 and desk.commands() == found[1] + 1


def test_only_check_try_and_plot_run_in_it(desk):
    with desk.here():
        for words in (["grade", "--ex", "03", "--files", SOLUTION], ["verify"], [], ["--serve"]):
            assert message.receive(client.ask(str(desk.root), message.RUN, words)) == {}


@nightly
def test_it_ends_by_itself(tmp_path):
    own = Desk(tmp_path / "own")
    own.environment["WARM"] = "0.05"
    pid = own.warm()
    assert gone(pid, seconds=100)


def test_doctor_shows_it(desk, said):
    pid = desk.warm()
    with desk.here():
        assert re.search(rf"warm process +{pid};", said("doctor").stdout)


@pytest.mark.skipif(not ROOT, reason="root alone can become another user")
def test_another_user_gets_no_answer(desk):
    """And nobody takes another user's process for the warm one."""
    found = desk.status()
    code = f"""
import os, socket, sys
os.setgid(54321), os.setuid(54321)
connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
connection.connect({message.address(str(desk.root))!r})
try:
    connection.sendall(b'{{"want": "status"}}\\n')
    print(connection.recv(100))
except OSError:
    print(b"")
"""
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("b''\n", "") and desk.status() == found
    name = message.address(str(desk.root))
    with desk.here() as patch, pytest.raises(PermissionError):
        patch.setattr(os, "geteuid", lambda: 54321)
        patch.setattr(message, "address", lambda _: name)
        client.ask(str(desk.root), message.STATUS, [])


@pytest.mark.parametrize("weaker", ["", pytest.param("B", marks=nightly)])
def test_a_workers_code_does_not_reach_it(weaker, desk, fork_server):
    found = desk.status()
    with ForkServer(tier=demand_tier(weaker).name) if weaker else contextlib.nullcontext(fork_server) as server:
        worker = server.spawn(Limits())
        assert load(worker, ATTACK.format(name=message.address(str(desk.root)), pid=found[0])).error is None
        outcomes = {attempt: call(worker, attempt) for attempt in ("by_socket", "trace")}
        worker.close()
    assert all(reply.error for reply in outcomes.values()), outcomes
    assert desk.status() == found


def test_without_a_sandbox_there_is_none(monkeypatch):
    """A worker of tier D is a process of the same user that nothing keeps from asking."""

    def load() -> None:
        raise AssertionError("it starts")

    monkeypatch.setattr(tiers, "choose", lambda: tiers.Tier("D"))
    keeper.serve([], [], {}, print, load)


def test_what_is_no_request_is_passed_by(desk):
    found = desk.status()
    for data in (b"", b"x", b"[]\n", b"{}\n", b'{"want": "run"}\n', b'{"want": "run", "words": 5}\n', b"\xff\n"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(message.address(str(desk.root)))
            connection.settimeout(20)
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionResetError):
                assert connection.recv(10) == b"", data
    assert desk.status() == found and desk.run(*CHECK).returncode == 0


# These end the warm process, and others would have to wait for a new one.


@nightly
def test_a_check_is_right_after_the_warm_process_was_killed_at_any_moment(desk):
    moments = random.Random(5)
    for _ in range(KILLS):
        pid = desk.warm()
        process = desk.begin(*CHECK)
        time.sleep(moments.uniform(0, 0.3))
        os.kill(pid, signal.SIGKILL)
        assert "7 of 7 points" in process.communicate(timeout=200)[0] and process.returncode == 0
        assert desk.run("check", "99").stderr.startswith("No exercise is called")


@pytest.mark.parametrize("changed", sample(["grader/judge/words.py", "solutions/03_context_vectors/mistakes.md"], 1))
def test_changed_code_is_never_answered_by_the_old(desk, changed):
    pid, file = desk.warm(), desk.root / changed
    before = file.read_text("utf-8")
    file.write_text(f"{before}\n", "utf-8")
    assert desk.run("check", "99").returncode == 2  # which takes no second where it is cold, and is asked as any other
    assert gone(pid, seconds=100), "the old one goes on"
    file.write_text(before, "utf-8")
