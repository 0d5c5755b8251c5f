"""The environment that make builds on first use."""

import re
import subprocess
import sys

import pytest

from grader import cli, venv
from grader.catalog import paths, tomllib

SLOW_INDEX = "http://127.0.0.1:9/"  # nothing listens there


@pytest.fixture
def ran(monkeypatch):
    """What is run, in order; an index that is out of reach is tried in earnest, and nothing is installed."""
    commands: list[list[str]] = []
    really = venv.step

    def step(what: str, command: list[str], optional: bool = False) -> bool:
        """Take the place of venv.step for all but the attempt at the index."""
        commands.append(command)
        return really(what, [sys.executable, *command[1:]], optional) if venv.CPU_INDEX in command else False

    monkeypatch.setattr(venv, "step", step)
    monkeypatch.setattr(venv, "CPU_INDEX", SLOW_INDEX)
    monkeypatch.setattr(venv, "SHORT", (*venv.SHORT, "--no-cache-dir", "--dry-run", "--isolated"))
    monkeypatch.setattr(venv, "version", lambda python: None)
    return commands


def asked(commands: list[list[str]]) -> bool:
    """Whether the index of builds without CUDA was asked."""
    return any(venv.CPU_INDEX in command for command in commands)


def test_without_a_driver_the_small_torch_is_asked_for_first_and_the_ordinary_one_then(ran, monkeypatch, capsys):
    monkeypatch.setattr(venv, "DRIVER", ())
    monkeypatch.setattr(venv.shutil, "which", lambda name: None)
    monkeypatch.setattr(venv.sys, "platform", "linux")
    assert venv.main(".venv", "") == 0
    assert asked(ran) and "-e" in ran[-2]  # the ordinary index has what is missing
    said = capsys.readouterr().out
    assert "that index cannot be reached" in said and "Ready after" in said


def test_with_a_driver_or_by_ones_own_word_it_is_not(ran, monkeypatch):
    monkeypatch.setattr(venv, "DRIVER", ("/",))
    assert venv.main(".venv", "") == 0 and not asked(ran)
    assert venv.main(".venv", "cuda") == 0 and not asked(ran)


def test_what_is_measured_is_installed_first():
    """`make bench` measures the watch and figures in a browser: in a fresh clone too."""
    planned = subprocess.run(
        ["make", "--dry-run", "bench", "VENV=never-made"], cwd=paths.ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert "-e '.[dev]'" in planned and planned.index("-e '.[dev]'") < planned.index("tests/bench.py")
    dev = " ".join(
        tomllib.loads((paths.ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["dev"]
    )
    assert "playwright" in dev and "watch" in dev


def test_an_unknown_torch_is_refused(ran, capsys):
    assert venv.main(".venv", "gpu") == 1 and not ran
    assert "TORCH=cpu or TORCH=cuda" in capsys.readouterr().err


def test_a_python_without_torch_is_told_two_ways_to_mend_it(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path)], check=True)
    bare = tmp_path / "bin" / "python"
    done = subprocess.run([bare, "-m", "grader", "check", "03"], cwd=paths.ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and f"{bare} has no torch, numpy" in done.stderr
    assert "leave PYTHON out" in done.stderr and f"{bare} -m pip install" in done.stderr
    assert "itself failed" not in done.stderr and "Traceback" not in done.stderr
    listed = tomllib.loads((paths.ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    assert {re.match(r"[\w-]+", one)[0] for one in listed if ";" not in one} == set(cli.NEEDED)
