"""Ctrl-C at any moment of a command: it says "stopped", and nothing else of Python's or of make's."""

import random
import re
import sys
import time
from pathlib import Path

import pytest
from at_terminal import AtTerminal, checkout
from thorough import THOROUGH

pytestmark = pytest.mark.slow

PYTHON = f"PYTHON={sys.executable}"
TRIES = 200 if THOROUGH else 4
# What make itself says. Before the program begins it is the only one to end.
OF_MAKE = re.compile(r"make: \*\*\* (.*Interrupt|wait: No child processes.*|Waiting for unfinished jobs.*)|\^C")


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Path:
    """A checkout to work in, whose exercise 03 is wrong."""
    folder = checkout(tmp_path_factory.mktemp("desk") / "checkout")
    stub = folder / "exercises/03_context_vectors/context_vectors.py"
    stub.write_text(stub.read_text().replace("raise NotImplementedError", "return inputs", 1))
    return folder


def stopped(desk: Path, moment: float, warm: str) -> str:
    """What the terminal shows where somebody presses Ctrl-C so many seconds after the start of make check."""
    command = ["env", "-u", "CI", "-u", "MAKELEVEL", "-u", "MAKEFLAGS", "make", "check", "EX=03", PYTHON]
    with AtTerminal(command, desk, WARM=warm) as learner:
        time.sleep(moment)
        learner.type("\x03")
        learner.ends(120)
        return OF_MAKE.sub("", learner.transcript).strip()


def test_ctrl_c_at_any_moment_says_stopped(desk, monkeypatch):
    """Half of the moments are in the first fifth, in which Python starts."""
    for name in ("PYTEST_VERSION", "PYTEST_CURRENT_TEST"):  # so that a warm process is asked
        monkeypatch.delenv(name, raising=False)
    moments = random.Random(3)
    began = time.monotonic()
    with AtTerminal(["make", "check", "EX=03", PYTHON], desk, WARM="1", CI="") as whole:
        whole.ends(200)  # and leaves a warm process
    cold = time.monotonic() - began
    for warm, length in (("0", cold), ("1", 1.0)):  # minutes: the warm process soon ends by itself
        said = []
        for number in range(TRIES // 2):
            shown = stopped(desk, moments.uniform(0, 0.8 * length if number % 2 else 0.15 * length), warm)
            if "points" in shown and "stopped" not in shown:
                assert "of 7 points" in shown, shown  # it was over before
            else:
                assert shown.endswith("stopped") or not shown, shown
            assert "Traceback" not in shown and "Fatal" not in shown and "not_graded" not in shown, shown
            said.append("stopped" in shown)
        assert sum(said) >= len(said) // 4, said
        print(f"{sum(said)} of {len(said)} said stopped; in the others make had not begun, or the check was over")
