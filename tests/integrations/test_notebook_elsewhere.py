"""A notebook away from its checkout: as in a container (Google Colab), and in an environment with a kernel alone."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from extras import needed
from filled_notebook import fill
from thorough import nightly

from grader import catalog
from grader.catalog import paths, project
from grader.integrations.notebook import export
from grader.worker.lockdown import seccomp

pytestmark = pytest.mark.slow

for name in ("jupytext", "nbclient", "ipykernel"):
    needed(name, "notebook")

FOLDER = catalog.find("03").folder
PROGRAMS = ("git", "sh", "ps", "true", "env", "uname")  # what the container has beside Python: no bwrap
TIMEOUT_S = 400
# As the filter of a container: no user namespace, by whichever system call. Then it runs the program that is named.
CONTAINER = """
import os, platform, sys
sys.path.insert(0, sys.argv[1])
from grader.worker.lockdown import kernel, seccomp
x86 = seccomp.machine() == "x86_64"
refused = {272 if x86 else 97: 1, 165 if x86 else 40: 1, 308 if x86 else 268: 1, 435: 38}  # unshare mount setns clone3
program = [(0x20, 0, 0, 0)]
for number, error in refused.items():
    program += [(0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | error)]
clone, new_user = 56 if x86 else 220, 0x10000000
program += [(0x15, 0, 3, clone), (0x20, 0, 0, 16), (0x45, 0, 1, new_user), (0x06, 0, 0, 0x00050001)]
program.append((0x06, 0, 0, 0x7FFF0000))
kernel.prctl(38, 1)  # no new privileges
seccomp.Filter(program).install()
os.execv(sys.argv[2], sys.argv[2:])
"""


@pytest.fixture(scope="module")
def container() -> list[str]:
    """The words before a command that let it run as in a container: without power over the system, no namespaces."""
    if seccomp.machine() is None or not seccomp.available():
        pytest.skip("no filter of system calls here")
    words = [sys.executable, "-c", CONTAINER, str(paths.ROOT)]
    if os.geteuid() == 0:
        setpriv = shutil.which("setpriv") or pytest.skip("setpriv is not installed (util-linux)")
        words = [setpriv, "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", *words]
    done = subprocess.run([*words, shutil.which("unshare"), "-Ur", "true"], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "not permitted" in done.stderr, done.stderr
    return words


@pytest.fixture(scope="module")
def python(tmp_path_factory) -> Path:
    """The Python of a fresh environment: it finds torch and a kernel, no grader."""
    place = tmp_path_factory.mktemp("environment")
    # pip is shared, too: to install one takes longer than all else.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True, timeout=TIMEOUT_S)
    found = place / "bin" / "python"
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.run([found, "-c", ask], capture_output=True, text=True, check=True).stdout.strip()
    (Path(packages) / "shared.pth").write_text(sysconfig.get_path("purelib") + "\n")  # but not its own .pth files
    done = subprocess.run([found, "-c", "import ipykernel, grader"], capture_output=True, text=True, cwd=place)
    assert "No module named 'grader'" in done.stderr
    return found


def made(**changed: str):
    """The notebook of an exercise with the solution in its cells; changed: texts in its first code cell."""
    import jupytext

    made = jupytext.reads(export.percent(catalog.find(FOLDER)), fmt="py:percent")
    notebook = fill(made, paths.solution(FOLDER).read_text("utf-8"))
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    for old, new in changed.items():
        first.source = first.source.replace(old, new)
    notebook.metadata["kernelspec"] = {"display_name": "elsewhere", "language": "python", "name": "elsewhere"}
    return notebook


def ran(notebook, command: list[str], place: Path, monkeypatch, **environment: str):
    """The notebook after each cell was run by a kernel that this command starts, in a folder."""
    from nbclient import NotebookClient

    spec = place / "jupyter" / "kernels" / "elsewhere" / "kernel.json"
    spec.parent.mkdir(parents=True)
    argv = [*command, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": argv, "display_name": "elsewhere", "language": "python", "env": environment}))
    monkeypatch.setenv("JUPYTER_PATH", str(place / "jupyter"))
    NotebookClient(notebook, timeout=TIMEOUT_S, resources={"metadata": {"path": str(place)}}).execute()
    return notebook


def said(cell) -> str:
    """What a cell shows, as text."""
    return "".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs)


@nightly
def test_in_a_container_one_cell_fetches_all_and_says_which_walls_there_are(container, python, tmp_path, monkeypatch):
    """Root without user namespaces and without bubblewrap, as on Colab. git clones a real repository."""
    origin, content, programs = tmp_path / "origin", tmp_path / "content", tmp_path / "programs"
    ignored = shutil.ignore_patterns("__pycache__", "*.ipynb")
    for name in ("grader", "exercises", "solutions"):
        shutil.copytree(paths.ROOT / name, origin / name, ignore=ignored)
    for name in ("pyproject.toml", "constraints.txt", "README.md"):
        shutil.copy(paths.ROOT / name, origin)
    git = ["git", "-C", str(origin), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "All."]):
        subprocess.run([*git, *words], check=True)
    content.mkdir()
    programs.mkdir()
    for name in PROGRAMS:
        (programs / name).symlink_to(shutil.which(name))
    pip = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}  # nothing is fetched but the repository
    notebook = made(**{project.address(): f"file://{origin}"})
    notebook.cells = [cell for cell in notebook.cells if cell.source != "experiment()"]  # it would import torch again
    notebook = ran(notebook, [*container, str(python)], content, monkeypatch, PATH=str(programs), **pip)
    first, last = notebook.cells[1], notebook.cells[-1]
    assert "(tier B)" in said(first), said(first)
    assert "A: bubblewrap is not installed" in said(first)
    assert (content / "attention-kata" / ".git").is_dir()
    assert "7 of 7 points" in said(last) and (content / "attention-kata" / ".kata-progress.json").exists()
