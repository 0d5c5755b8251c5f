"""The environment that make builds on first use."""

import ast
import glob
import importlib.metadata
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from at_terminal import BY_HAND, OUTSIDE, AtTerminal
from packaging.specifiers import SpecifierSet
from thorough import THOROUGH, nightly, sample

from grader import venv
from grader.catalog import paths, project

pytestmark = pytest.mark.slow

NOBODY = "http://127.0.0.1:9/"  # nothing listens there
OFFLINE = {
    "PIP_INDEX_URL": NOBODY, "PIP_EXTRA_INDEX_URL": NOBODY, "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": os.devnull,
    "PIP_NO_CACHE_DIR": "1",
}  # fmt: skip
OLD = [Path(path) for path in sorted(glob.glob(f"{Path.home()}/.pyenv/versions/3.[6789].*/bin/python"))]


def test_the_small_torch_is_asked_for_without_a_driver_and_with_torch_cpu():
    for torch, driver, is_small in (("", False, True), ("", True, False), ("cpu", True, True), ("cuda", False, False)):
        assert venv.wants_cpu_build(torch, driver) is is_small, (torch, driver)


def test_an_unknown_torch_is_refused():
    done = make(paths.ROOT, "list", "TORCH=gpu")
    assert done.returncode == 2 and "TORCH is cpu or cuda" in done.stderr


def test_a_python_without_torch_is_told_two_ways_to_fix_it(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path)], check=True)
    bare = tmp_path / "bin" / "python"
    done = subprocess.run([bare, "-m", "grader", "check", "03"], cwd=paths.ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and f"{bare} has no " in done.stderr
    said = subprocess.run([bare, "-m", "grader", "--version"], cwd=paths.ROOT, capture_output=True, text=True).stdout
    assert said.startswith("kata ") and "torch not installed" in said
    assert "leave PYTHON out" in done.stderr and f"{bare} -m pip install" in done.stderr
    assert "itself failed" not in done.stderr and "Traceback" not in done.stderr


# A build that is stopped, or has no network. The real Makefile, venv and pip, and a project that needs little.


SMALL = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "small"
version = "1"
"""
# A wheel takes a while to make, as torch takes to fetch, and an extra is out of reach.
BACKEND = """
import os, sys, time, zipfile

def get_requires_for_build_editable(settings=None):
    return []

def build_editable(folder, settings=None, metadata=None):
    time.sleep(10 if os.environ.get("SLOW") == "wheel" else 0)
    name = "small-1-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        extra = "Provides-Extra: notebook\\nRequires-Dist: not-on-any-index; extra == 'notebook'\\n"
        wheel.writestr("small-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: small\\nVersion: 1\\n" + extra)
        wheel.writestr("small-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("small_is_here.py", "")
        records = ["small-1.dist-info/METADATA,,", "small-1.dist-info/WHEEL,,", "small_is_here.py,,"]
        wheel.writestr("small-1.dist-info/RECORD", "\\n".join([*records, "small-1.dist-info/RECORD,,"]))
    return name
"""
# What `make list` starts once the environment is there.
PROGRAM = "import sys, small_is_here\nprint('it works:', *sys.argv[1:])\nsys.exit(2 * ('wrong' in sys.argv))\n"


# Makes an environment with the pip of this one, as to unpack and compile pip anew takes most of a build.
# (To look for the module would make setuptools give up its distutils in this process, which nbgrader imports.)
PIP = None if THOROUGH else importlib.metadata.distribution("pip").locate_file("pip")
LENT = """
import os, pathlib, subprocess, sys, time
time.sleep(10 if os.environ.get("SLOW") == "environment" else 0)
subprocess.run([sys.executable, "-m", "venv", "--without-pip", sys.argv[1]], check=True)
(packages,) = pathlib.Path(sys.argv[1]).glob("lib/python*/site-packages")
(packages / "pip").symlink_to(PIP)
"""


def small_clone(folder: Path, needs: str = "[]", is_lent: bool = PIP is not None) -> Path:
    """A clone without .venv, whose project needs nothing from an index. Returns the folder.

    needs: to build it. is_lent: its environment uses the pip of this one, as it has by day.
    """
    (folder / "grader").mkdir(parents=True)
    shutil.copy(paths.ROOT / "Makefile", folder)
    program = (paths.ROOT / "grader/venv.py").read_text("utf-8").replace(venv.CPU_INDEX, NOBODY)
    if is_lent:
        (folder / "lent.py").write_text(LENT.replace("PIP", repr(str(PIP))))
        own, lent = '[sys.executable, "-m", "venv", ', '[sys.executable, "lent.py", '
        assert own in program
        program = program.replace(own, lent)
    (folder / "grader/venv.py").write_text(program)
    (folder / "grader/__main__.py").write_text(PROGRAM)
    (folder / "pyproject.toml").write_text(SMALL.replace("[]", needs))
    (folder / "backend.py").write_text(BACKEND)
    (folder / "constraints.txt").write_text("torch==2.0\n")
    return folder


def surroundings(**more: str) -> dict[str, str]:
    """The environment of a learner without a network, who sits at a terminal and not below another make."""
    return {**OUTSIDE, **OFFLINE, **more}


def make(clone: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *words], cwd=clone, env=surroundings(**more), capture_output=True, text=True, timeout=300
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """An environment that is ready, to be copied. The index of the small torch is out of reach."""
    folder = small_clone(tmp_path_factory.mktemp("built") / "clone")
    done = make(folder, "list", "TORCH=cpu")
    assert done.stdout.endswith("it works: --make list\n"), done.stdout + done.stderr
    if sys.platform == "linux":
        assert "torch for the CPU … not there" in done.stdout and "that index has none for now" in done.stdout
    assert "Ready after" in done.stdout
    return folder


@pytest.fixture
def ready(built, tmp_path) -> Path:
    return shutil.copytree(built, tmp_path / "a clone", symlinks=True)


class Learner(AtTerminal):
    """A learner who types a command in a clone."""

    def __init__(self, clone: Path, *words: str, **more: str) -> None:
        super().__init__([*BY_HAND, *words], clone, **OFFLINE, **more)


@pytest.mark.parametrize("ending", sample(["Ctrl-C", "closed", signal.SIGTERM, signal.SIGKILL], 1))
def test_a_build_that_is_stopped_goes_on(tmp_path, ending):
    """It is stopped while it makes the environment, and while it installs."""
    clone = small_clone(tmp_path / "a clone")
    for slow, step in (("environment", "an environment of its own …"), ("wheel", "what else is needed …")):
        with Learner(clone, "make", "list", SLOW=slow) as learner:
            learner.says(step, seconds=240)
            if ending == "Ctrl-C":
                learner.type("\x03")
                learner.says("Type the same command again: it goes on from here.")
            elif ending != "closed":
                os.killpg(learner.process.pid, ending)
            if ending != "closed":
                assert learner.ends() != 0
                assert "Traceback" not in learner.transcript
            if ending == "Ctrl-C":  # a make that is killed itself may lose its child, and say so
                own = r"\*\*\* (wait: No child processes|Waiting for unfinished jobs)"
                assert "***" not in re.sub(own, "", learner.transcript)
    assert not (clone / ".venv/.ready").exists()
    done = make(clone, "list")
    assert done.stdout.endswith("it works: --make list\n"), done.stdout + done.stderr


def break_pip(folder: Path) -> None:
    """As Debian without python3-venv leaves an environment."""
    shutil.rmtree(next(folder.glob("lib/python*/site-packages/pip")))


def break_python(folder: Path) -> None:
    """As after an update of the system's Python."""
    for path in folder.glob("bin/python*"):
        path.unlink()
    (folder / "bin/python").symlink_to("/usr/bin/python2.9")


def break_package(folder: Path) -> None:
    """As where pip is killed between two files of a package."""
    next(folder.glob("lib/python*/site-packages/small-1.dist-info/RECORD")).unlink()
    next(folder.glob("lib/python*/site-packages/small_is_here.py")).unlink()
    (folder / ".ready").rename(folder / ".changing")


def break_replacement(folder: Path) -> None:
    """As where pip is killed while it replaces a package."""
    packages = next(folder.glob("lib/python*/site-packages"))
    (packages / "small-1.dist-info").rename(packages / "~mall-1.dist-info")
    (packages / "small_is_here.py").unlink()
    (folder / ".ready").rename(folder / ".changing")


@pytest.mark.parametrize("harm", sample([break_package, break_replacement, break_pip, break_python], 1))
def test_what_is_half_there_is_installed_again(ready, harm):
    harm(ready / ".venv")
    os.utime(ready / "pyproject.toml")  # pip is missed when it is needed
    done = make(ready, "list")
    assert done.stdout.endswith("it works: --make list\n"), done.stdout + done.stderr


def with_python3(folder: Path, script: str) -> str:
    """A PATH on which python3 is a shell script, and no other Python is."""
    folder.mkdir()
    for name in ("bash", "cat", "echo", "env", "git", "grep", "make", "sed", "sh", "test", "touch", "tr", "awk"):
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    if script:
        (folder / "python3").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "python3").chmod(0o755)
    return str(folder)


def test_a_python_without_venv_says_what_to_install_each_time(tmp_path):
    """Debian's python3 without python3-venv makes bin/python, and fails then."""
    clone = small_clone(tmp_path / "clone", is_lent=False)
    script = f'[ "$2" = venv ] && echo "ensurepip is not available" && exit 1\nexec {sys.executable} "$@"'
    program = (clone / "grader/venv.py").read_text()
    (clone / "grader/venv.py").write_text(program.replace("[sys.executable, ", '["python3", '))
    for _ in range(2):
        done = make(clone, "list", PATH=with_python3(tmp_path / f"bin{_}", script))
        assert done.returncode == 2 and "sudo apt install python3." in done.stderr, done.stdout + done.stderr
        assert "Traceback" not in done.stderr and not (clone / ".venv").exists()


def test_an_old_python_is_told_in_one_sentence(tmp_path):
    """macOS has 3.9. An older one reads venv.py as well: what it does not know stands below the question."""
    ast.parse((paths.ROOT / "grader/venv.py").read_text("utf-8"), feature_version=(3, 7))
    clone = small_clone(tmp_path / "clone")
    lie = f'exec {sys.executable} -c \'import sys; sys.version_info = (3, 9, 6); sys.version = "3.9.6 (old)"; '
    lie += 'sys.argv[:1] = []; a = sys.argv; exec(a[1]) if a[0] == "-c" else exec(open(a[0]).read())\' "$@"'
    for number, script in enumerate([lie, *(f'exec {old} "$@"' for old in OLD)]):
        done = make(clone, "list", PATH=with_python3(tmp_path / str(number), script))
        assert done.returncode == 2 and "Traceback" not in done.stderr
        (said,) = [line for line in done.stderr.splitlines() if "***" not in line]
        assert said.startswith("Python 3.10 or later is needed; python3 here is 3.")
    bare = with_python3(tmp_path / "none", "")
    assert "Python 3.10 or later is needed, and there is no python3 here." in make(clone, "list", PATH=bare).stderr
    (tmp_path / "0/python3.12").symlink_to(sys.executable)
    done = make(clone, "--dry-run", "list", PATH=str(tmp_path / "0"))
    assert "python3 here is older than 3.10, so python3.12 is used." in done.stdout
    assert "python3.12 grader/venv.py .venv" in done.stdout


def test_without_a_network_one_sentence_says_so(tmp_path):
    clone = small_clone(tmp_path / "clone", '["not-on-any-index"]')
    done = make(clone, "list")
    assert done.returncode == 2
    said = [line for line in done.stderr.splitlines() if "***" not in line]
    assert said == [
        "No package index can be reached: is there a network?",
        "Type the same command again once there is one.",
    ]


def test_an_extra_without_a_network_is_one_sentence(ready):
    done = make(ready, "notebook", "EX=03")
    said = [line for line in done.stderr.splitlines() if "***" not in line]
    assert done.returncode == 2 and len(said) == 2 and said[0].startswith("No package index can be reached"), said
    assert "notebook, fetched once" in done.stdout


@nightly
def test_without_a_network_a_changed_project_goes_on_with_what_is_installed(ready):
    changed = (ready / "pyproject.toml").read_text().replace("requires = []", 'requires = ["not-on-any-index"]')
    (ready / "pyproject.toml").write_text(changed)
    done = make(ready, "list")
    assert "The packages stay as they are" in done.stdout and done.stdout.endswith("it works: --make list\n")
    again = make(ready, "list")  # it is tried again, each time
    assert "The packages stay as they are" in again.stdout


def test_a_new_date_alone_installs_nothing(ready):
    os.utime(ready / "pyproject.toml")
    (ready / "backend.py").unlink()  # nothing could be installed
    for _ in range(2):
        assert make(ready, "list").stdout == "it works: --make list\n"


@nightly
def test_two_builds_at_once_wait_for_each_other(tmp_path):
    clone = small_clone(tmp_path / "clone")
    command = ["make", "list"]
    first, second = (
        subprocess.Popen(command, cwd=clone, env=surroundings(SLOW="wheel"), stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    )
    said = [first.communicate(timeout=300)[0], second.communicate(timeout=300)[0]]
    assert all(text.endswith("it works: --make list\n") for text in said), said
    assert sum("Waiting for it" in text for text in said) == 1


def test_triton_is_left_to_the_torch_that_is_installed():
    """A torch for CUDA pins one version of Triton: with another one in our files pip installs nothing at all."""
    constraints = paths.at_root("constraints.txt").read_text("utf-8")
    assert "torch==2.13.0" in constraints and not re.search(r"^triton\b", constraints, re.M)
    fitting = SpecifierSet(project.requirement("triton"))
    assert {"3.7.1", "3.9.0"} <= set(fitting.filter(["3.6.0", "3.7.1", "3.9.0", "3.10.0"]))
