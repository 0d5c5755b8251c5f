"""A process moves its memory into large pages and computes on."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from grader.catalog import paths

pytestmark = pytest.mark.skipif(
    not Path("/sys/kernel/mm/transparent_hugepage").exists(), reason="this system has no large pages"
)
PROGRAM = """
import re, sys
sys.path.insert(0, sys.argv[1])
from grader.worker.lockdown import kernel

def large():
    with open("/proc/self/smaps_rollup") as rollup:
        return int(re.search(r"AnonHugePages: *(\\d+)", rollup.read())[1])

objects = [[number, str(number)] for number in range(300_000)]
before = large()
kernel.use_large_pages()
print(before, large(), all(one == [number, str(number)] for number, one in enumerate(objects)))
"""


def test_python_objects_are_moved_into_large_pages():
    command = [sys.executable, "-I", "-c", PROGRAM, str(paths.ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    before, after, unchanged = re.fullmatch(r"(\d+) (\d+) (\w+)\n", done.stdout).groups()
    assert unchanged == "True"
    release = tuple(map(int, re.findall(r"\d+", Path("/proc/sys/kernel/osrelease").read_text())[:2]))
    if release >= (6, 1):
        assert int(after) > int(before) + 10_000, "kB in large pages"
