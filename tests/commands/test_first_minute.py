"""The script that lives through a learner's first minute, here without a network; CI runs it on each system."""

import re
import subprocess
import sys

import pytest
import yaml
from thorough import nightly

from grader.catalog import paths

pytestmark = pytest.mark.slow


@nightly  # beside tests/commands/test_wheel.py, and the workflow of its own
def test_the_first_minute_both_ways():
    command = [sys.executable, ".ci/first_minute.py", "--python", sys.executable]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, timeout=550, check=False)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^ +[\d.]+ s  (.+)$", done.stdout, re.M) == [
        "git clone",
        "make check EX=01, and Ctrl-C",
        "the same again",
        "after the work",
        "make the wheel",
        "an environment",
        "install",
        "kata init",
        "kata check 01, and Ctrl-C",
        "the same again",
        "after the work",
    ]


def test_the_workflow_runs_it_on_each_system():
    known = yaml.safe_load((paths.ROOT / ".github/workflows/first-minute.yml").read_text("utf-8"))
    systems = known["jobs"]["here"]["strategy"]["matrix"]["system"] + [known["jobs"]["wsl"]["runs-on"]]
    assert {name.partition("-")[0] for name in systems} == {"ubuntu", "macos", "windows"}
    for job in known["jobs"].values():
        assert "python3 .ci/first_minute.py" in job["steps"][-1]["run"]
