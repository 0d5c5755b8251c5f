"""Hand-ins that attack: each gets the verdict that its code deserves, and harms nobody else.

`tests/hostile/<letter>_<group>.md` holds them. The first lines of each say the exercise, the verdict that the
code deserves, and what it tries; `# note:` says what the note for the teacher names, `# appends:` what Python
expression gives the rest of a file that is too long to keep.

By day some of those on 01 and 03 are tried: of the attacks on the sandbox itself a third in tier A and another one in
B, and of each other group, whose verdict the trusted side gives in any tier, some in one tier. All are tried every
night, and in tier D, which has no walls, what forges a verdict:
`THOROUGH=1 pytest tests/hostile/test_hostile.py`. One tier, and some attacks:
`HOSTILE='H_|L_.*/1' pytest tests/hostile/test_hostile.py -k A`.
"""

import compileall
import contextlib
import ctypes
import hashlib
import importlib
import json
import os
import pwd
import re
import resource
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import hostile_class
import pytest
from attacks import ATTACKS, Attack
from copies import copy
from extras import demand_tier
from test_find import zipped
from thorough import THOROUGH, nightly

from grader import catalog
from grader.catalog import paths, project
from grader.reports import ci, terminal
from grader.reports import json as as_json

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="the tiers A and B are Linux's")]
CHOSEN = os.environ.get("HOSTILE", "")  # a pattern of paths; else a sample
WALLED = ("A", "B")  # tiers; D is tried at night
ON_THE_VERDICT = "ABCDE"  # groups whose attacks fail in a tier without walls too
ON_THE_SANDBOX = "FGK"  # groups whose attacks a tier alone withstands: reading, writing, breaking out
BY_DAY = ("01", "03")  # exercises; another one asks for a fork server of its own, which takes longer than its attacks
EVERY = 3  # of those on the sandbox each tier tries one in so many
SAMPLE = 12  # of each other group one tier tries one attack in so many
HONEST_EVERY = 1 if THOROUGH else 8  # attacks before each honest hand-in
SEED = 1
# Exercises whose honest kernels take more than a second in the interpreter, where the machine is busy.
INTERPRETED = {exercise.folder[:2] for exercise in catalog.exercises() if exercise.limits.needs}
SLOW_S = 20.0  # of one hand-in; the slowest honest one takes half a second, an interpreted kernel three times as long
LONGEST_S = 1500 if THOROUGH else 400  # of one command
LARGE_BYTES = 2_000_000  # of a whole report
LARGE_MEMORY = 3 << 30  # of any process of ours
POSTGRES = next((user.pw_uid for user in pwd.getpwall() if user.pw_name == "postgres"), None)
TOGETHER = Path(__file__).parents[1] / "together.py"
HOME = re.compile(r"""sys\.modules\[["'](worker\.\w+)["']\]""")  # a module of the worker, as attacks reach it
MARK = "kata-hostile"  # what files are called that attacks try to leave
# A hidden input that stands in every random tensor: a float32 can hold it, so it comes out as it went in.
HIDDEN_INPUT, HIDDEN_DIGITS = 0.629638671875, ("6296386", "629638671875")
RANDN = "torch.randn(*shape, generator=self.generator, dtype=torch.float64).to(dtype)"


class Place:
    """A copy of the repository with secrets in it, a process that grades with it (tests/together.py), and hand-ins."""

    def __init__(self, folder: Path):
        self.token, self.tree, self.tmp = secrets.token_hex(12), folder / "tree", folder / "tmp"
        self.desk = folder  # each test has its own
        self.tmp.mkdir()
        self.process: subprocess.Popen | None = None
        self.stderr = (folder / "stderr").open("w+", errors="replace")
        copy(self.tree, "grader", "solutions")
        (self.tree / "exercises").mkdir()
        secret = f'CANARY = "CANARY {self.token}"  # CANARY {self.token}\n'
        for hidden in (*self.tree.glob("grader/checks/*/test_*.py"), *self.tree.glob("solutions/*/*.py")):
            hidden.write_text(hidden.read_text("utf-8") + "\n\n" + secret, "utf-8")
        (self.tree / "grader/checks/secret.txt").write_text(secret)
        inputs = self.tree / "grader/judge/inputs.py"
        source = inputs.read_text("utf-8")
        assert RANDN in source
        changed = f"drawn = {RANDN}\n        drawn[..., -1:] = {HIDDEN_INPUT}\n        return drawn"
        inputs.write_text(source.replace(f"return {RANDN}", changed), "utf-8")
        for name in ("results.json", "gradebook.csv", ".kata-progress.json"):
            (self.tree / name).write_text("{}")
            (self.tree / name).chmod(0o666)
        compileall.compile_dir(self.tree / "grader", quiet=2)  # else the grader's processes would, and change files
        self.own = {"KATA_CANARY": self.token, "PYTHONDONTWRITEBYTECODE": "1"}
        self.own |= {"PYTHONPATH": str(self.tree), "TMPDIR": str(self.tmp)}

    def start(self) -> None:
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [sys.executable, TOGETHER], env=os.environ | self.own, cwd=self.tmp, text=True, errors="replace",
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr,
            )  # fmt: skip

    def together(self, commands: list[list[str]]) -> tuple[list[dict] | None, str]:
        """What each command line did, and what the process wrote to stderr. None where it ended before it answered."""
        self.start()
        too_long = threading.Timer(LONGEST_S, self.process.kill)
        too_long.start()
        at = self.stderr.seek(0, os.SEEK_END)
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps({"folder": str(self.desk), "commands": commands}), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        too_long.cancel()
        if not line:
            self.end()
        self.stderr.seek(at)
        return json.loads(line) if line else None, self.stderr.read()

    def end(self) -> int:
        """Let the process end. Returns its exit code."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(LONGEST_S)

    def lay_desk(self, folder: Path) -> None:
        """A desk that a stranger could read: the sandbox must do the work."""
        self.desk = folder / "desk"
        self.desk.mkdir()
        for path in (self.tmp, self.tree, *self.tree.parents, self.desk, *self.desk.parents):
            if path.owner() == Path.home().owner() and path != Path("/"):
                path.chmod(path.stat().st_mode | 0o005)

    def hand_in(self, attack: Attack) -> Path:
        text = attack.source.replace("@TREE@", os.fsencode(self.tree).hex())
        target = self.desk / f"{attack.name}.py"
        text = text.replace("@BESIDE@", os.fsencode(self.desk).hex())
        target.write_text(text + (eval(attack.appends) if attack.appends else ""), "utf-8")
        return target

    def honest(self, exercise: str, number: int) -> Path:
        target = self.desk / f"honest_{exercise}_{number:03d}.py"
        target.write_text(paths.solution(catalog.find(exercise).folder).read_text("utf-8"), "utf-8")
        return target

    def secrets(self) -> tuple[str, ...]:
        hidden = ("test_softmax_naive.py", "test_context_vectors.py", "test_causal_attention.py", "secret.txt")
        return (self.token, str(self.tree), *HIDDEN_DIGITS, *hidden)

    def print_of_files(self) -> dict[str, tuple]:
        """Every file of the tree: mode, owner, times, bytes."""
        return {
            str(path): (facts.st_mode, facts.st_uid, facts.st_mtime_ns, digest(path))
            for path in sorted(self.tree.rglob("*"))
            for facts in [path.lstat()]
        }


def grading(exercise: str, files: list[Path]) -> list[str]:
    seconds = "5" if exercise in INTERPRETED else "1"
    common = ["--format", "json", "--seed", str(SEED), "--timeout", seconds, "--accept-tier", "D"]
    return ["grade", "--ex", exercise, "--files", *map(str, files), *common]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() and not path.is_symlink() else ""


def left_behind() -> set[str]:
    """What attacks could leave outside the tree: files with their mark, shared memory of any kind.

    What tests that run beside these have is left out: a PostgreSQL's shared memory, of a user that no attack can
    become, and the semaphores of a Dask cluster's multiprocessing.
    """
    found = {path for folder in ("/tmp", "/var/tmp", "/run") for path in Path(folder).glob(f"*{MARK}*")}
    names = {str(path) for path in (*found, *Path("/dev/shm").glob("*")) if owner(path) != POSTGRES}
    names = {name for name in names if not name.startswith("/dev/shm/sem.mp-")}
    for kind in ("shm", "sem", "msg"):
        head, *rows = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()
        column = head.split().index("cuid")
        names |= {f"{kind} {row.split()[1]}" for row in rows if int(row.split()[column]) != POSTGRES}
    return names


def owner(path: Path) -> int | None:
    with contextlib.suppress(FileNotFoundError):  # gone meanwhile
        return path.lstat().st_uid
    return POSTGRES


def children() -> set[int]:
    return {int(pid) for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()}


@contextlib.contextmanager
def no_orphans() -> Iterator[None]:
    """Whatever a run leaves becomes our child, and is found and ended here."""
    before = children()
    yield
    deadline = time.monotonic() + 3
    while (left := children() - before) and time.monotonic() < deadline:
        for pid in left:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                os.waitpid(pid, 0)
        time.sleep(0.02)
    called = [Path(f"/proc/{pid}/cmdline").read_bytes()[:300] for pid in left]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, f"processes are left: {called}"


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    library, subreaper = ctypes.CDLL(None), 36
    library.prctl(subreaper, 1, 0, 0, 0)
    made = Place(tmp_path_factory.mktemp("hostile"))
    yield made
    with no_orphans():
        assert made.end() == 0
    library.prctl(subreaper, 0, 0, 0, 0)
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
    assert largest < LARGE_MEMORY, f"a process took {largest >> 20} MiB"


@pytest.fixture
def place(shared, tmp_path):
    shared.lay_desk(tmp_path)
    files, outside = shared.print_of_files(), left_behind()
    shared.start()
    with no_orphans():
        yield shared
    assert shared.print_of_files() == files, "files of the tree were changed"
    assert left_behind() <= outside, "files or shared memory are left"
    left = [path.name for path in shared.tmp.iterdir() if not path.name.startswith("torchinductor")]  # torch's own
    assert not left, f"temporary files are left: {left}"


def laid(place: Place, group: list[Attack]) -> dict[Path, Attack | None]:
    """The files that one command line grades: attacks on one exercise, and among them honest ones (None)."""
    files: dict[Path, Attack | None] = {}
    for number, attack in enumerate(group):
        files[place.hand_in(attack)] = attack
        if (number + 1) % HONEST_EVERY == 0 or number == len(group) - 1:
            files[place.honest(attack.exercise, number)] = None
    return files


def run_all(place: Place, groups: list[list[Attack]], tier: str) -> dict[str, str]:
    """What each attack achieved, all of them in one process. HOSTILE=… finds which of a group ended the grader."""
    rounds = [(group[0].exercise, laid(place, group)) for group in groups]
    done, stderr = place.together([[*grading(exercise, [*files]), "--tier", tier] for exercise, files in rounds])
    if done is None:
        return {"some attack": f"the grader ended: {stderr.strip()[-300:]}"}
    achieved = {} if not stderr else {"stderr": stderr[-300:]}
    for (exercise, files), known in zip(rounds, done):
        if known["code"] in (0, 1):
            achieved |= judged(place, files, known["stdout"])
        else:
            achieved[f"an attack on exercise {exercise}"] = f"the grader ended: {known['stderr'][-300:]}"
        if known["largest"] > LARGE_MEMORY:
            achieved[f"memory of exercise {exercise}"] = f"{known['largest'] >> 20} MiB"
        if leaked(known["stderr"], place) or "Traceback" in known["stderr"]:
            achieved[f"stderr of exercise {exercise}"] = known["stderr"][-300:]
        if len(known["stdout"]) > LARGE_BYTES + 20_000 * len(files):
            achieved[f"report of exercise {exercise}"] = f"{len(known['stdout'])} bytes"
    return achieved


def judged(place: Place, files: dict[Path, Attack | None], stdout: str) -> dict[str, str]:
    results = json.loads(stdout)["results"]
    assert len(results) == len(files)
    achieved, last = {}, ""
    for attack, result in zip(files.values(), results):
        if attack is not None:
            last = attack.name
            if harm := success(attack, result, place):
                achieved[last] = harm
        elif result["points"] != result["max_points"]:
            achieved[last] = f"the honest hand-in after it got {result['points']}: {sentence(result)}"
    return achieved


def success(attack: Attack, result: dict, place: Place) -> str:
    """What an attack achieved; "" where nothing."""
    if result["status"] != attack.verdict:
        return f"{result['status']}, deserved {attack.verdict}: {sentence(result)[:200]}"
    if result["status"] != "passed" and not sentence(result):
        return "no message"
    if result["sandbox"]["tier"] not in (*WALLED, "D") or result["sandbox"]["holes"]:
        return "graded without its sandbox"
    if attack.note and not any(attack.note in note for note in result["notes"]):
        return f"no note names {attack.note}: {result['notes']}"
    if result["duration_s"] > SLOW_S * (3 if catalog.find(attack.exercise).limits.needs else 1):
        return f"the grader worked for {result['duration_s']:.0f} s"
    return leaked(json.dumps(result, ensure_ascii=False), place)


def sentence(result: dict) -> str:
    failed = (check["message"] for check in result["checks"] if check["outcome"] == "failed")
    return result["message"] or next(failed, "")


def leaked(text: str, place: Place) -> str:
    for number, secret in enumerate(place.secrets()):
        if secret in text:
            at = text.index(secret)
            return f"secret {number} is told: {text[max(0, at - 80) : at + 40]!r}"
    return ""


@pytest.mark.parametrize("tier", [*WALLED, pytest.param("D", marks=nightly)])
def test_no_attack_succeeds(tier, place, capsys):
    demand_tier(tier)
    chosen = [attack for attack in chosen_for(tier) if not project.not_here(catalog.find(attack.exercise).limits.needs)]
    assert chosen, f"HOSTILE={CHOSEN} chooses no attack"
    achieved = run_all(place, grouped(chosen), tier)
    with capsys.disabled():
        print(f"\ntier {tier}: {len(chosen)} attacks, {len(achieved)} succeeded")
    assert not achieved, "\n".join(f"{name}: {harm}" for name, harm in achieved.items())


def chosen_for(tier: str) -> list[Attack]:
    """The attacks that are tried in a tier. Without walls, others than those on the verdict would harm this machine."""
    fitting = [attack for attack in ATTACKS if tier in WALLED or attack.name[0] in ON_THE_VERDICT]
    if CHOSEN or THOROUGH:
        return [attack for attack in fitting if re.search(CHOSEN, f"{attack.group}/{attack.title}")]
    found = []
    for group in sorted({attack.name[0] for attack in fitting}):
        every = [attack for attack in fitting if attack.name[0] == group and attack.exercise in BY_DAY]
        if group in ON_THE_SANDBOX:
            found += every[WALLED.index(tier) :: EVERY]
        elif WALLED[ord(group) % len(WALLED)] == tier:
            found += every[2::SAMPLE]
    return found


def grouped(chosen: list[Attack]) -> list[list[Attack]]:
    """Attacks of one exercise together, the largest groups first."""
    by_exercise: dict[str, list[Attack]] = {}
    for attack in chosen:
        by_exercise.setdefault(attack.exercise, []).append(attack)
    return sorted(by_exercise.values(), key=len, reverse=True)


def test_attacks_on_the_worker_aim_at_what_is_there():
    """What was renamed since would be attacked no more, and nobody would see that."""
    gone = {attack.name: list(missed(attack.source)) for attack in ATTACKS if "worker." in attack.source}
    assert len(gone) > 20
    assert {name: names for name, names in gone.items() if names} == {}


def missed(text: str) -> Iterator[str]:
    """Attributes that an attack names, and that no module or class of the worker has."""
    named = dict[str, str]()
    for line in text.splitlines():
        names, _, homes = line.strip().replace("(", "").replace(")", "").partition(" = ")
        named |= {name: home for name, home in zip(names.split(", "), homes.split(", ")) if HOME.match(home)}
    for name, home in named.items():
        text = re.sub(rf"(?<![\w.\"']){name}\.", f"{home}.", text)
    for module, path in re.findall(HOME.pattern + r"((?:\.\w+)+)", text):
        owner = importlib.import_module(f"grader.{module}")
        for part in path.split(".")[1:]:
            if isinstance(owner, (ModuleType, type)):
                if not hasattr(owner, part):
                    yield f"{owner.__name__}.{part}"
                owner = getattr(owner, part, None)


# What lies beside the files: test_cli.py. Files that are no files: tests/judge/test_golden.py.
# Words: every output form shows a learner's text as text.

NASTY = [attack for attack in ATTACKS if re.search("^G.*_(terminal_codes|markup|.*command.*)$", attack.name)]
NASTY = [attack for attack in NASTY if THOROUGH or attack.exercise in BY_DAY]
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff\ue000-\uf8ff]"
)
COMMAND = re.compile(r"^\s*::|##\[|##vso\[|##teamcity\[", re.M)  # GitHub drops blanks before it looks


def assert_inert(text: str) -> None:
    unsafe = UNSAFE.search(text)
    assert unsafe is None, repr(text[max(0, unsafe.start() - 60) : unsafe.end() + 20])
    command = COMMAND.search(text)
    assert command is None, repr(text[max(0, command.start() - 60) : command.end() + 60])


@pytest.mark.parametrize("attack", NASTY, ids=lambda attack: attack.name)
def test_hostile_text_is_inert_in_every_form(attack, said, tmp_path):
    path = tmp_path / f"{attack.title}.py"
    path.write_text(attack.source, "utf-8")
    done = said("check", attack.exercise, "--submission", path, "--seed", SEED, "--format", "json")
    assert done.returncode == 1, done.stderr
    assert_inert(done.stdout + done.stderr)
    known = json.loads(done.stdout)
    assert known["status"] == "failed"
    for text in (known["output"], known["message"], *(check["message"] for check in known["checks"])):
        assert_inert(text)
    result = as_json.read(known)
    assert_inert(terminal.plain(result, every=True))  # the text for a person
    assert_inert(ci.as_junit(result))
    suite = ElementTree.fromstring(ci.as_junit(result))
    assert suite.tag == "testsuite" and {case.tag for case in suite} <= {"properties", "testcase", "system-out"}
    assert int(suite.get("tests")) == len(suite.findall("testcase"))
    assert {part.tag for case in suite.iter("testcase") for part in case} <= {"failure", "skipped"}


# A small class.

JOBS = 2 if THOROUGH else 1  # each takes seconds to start
STUDENTS, STRANGERS = (30, 60) if THOROUGH else (10, 12)
EXERCISES = ("02", "03") if THOROUGH else ("03",)


@pytest.mark.parametrize("is_packed", [False, pytest.param(True, marks=nightly)])
def test_no_hostile_hand_in_moves_an_honest_verdict(is_packed, tmp_path, said, here):
    options = ("--ex", ",".join(EXERCISES), "--jobs", JOBS)
    alone = hostile_class.lay(tmp_path / "alone", EXERCISES, STUDENTS, strangers=0)
    expected = hostile_class.grade(alone, tmp_path / "expected", *options, run=said)
    assert len(expected) == len(EXERCISES) * STUDENTS * 9 // 10  # one of ten has handed in nothing
    among = hostile_class.lay(tmp_path / "among", EXERCISES, STUDENTS, STRANGERS)
    run = hostile_class.by_a_process if THOROUGH else said
    got = hostile_class.grade(zipped(among) if is_packed else among, tmp_path / "out", *options, run=run)
    assert hostile_class.differing(expected, got) == []
    assert len(got) > len(expected)
