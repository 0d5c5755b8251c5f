"""What the tests share: one warm nursery, and the real command line."""

import subprocess
import sys

import pytest

from grader import paths
from grader.nursery import Nursery


@pytest.fixture(scope="session")
def nursery():
    with Nursery() as warm:
        yield warm


@pytest.fixture(scope="session")
def cli():
    """`cli("check", "03")` runs `python -m grader check 03` for real."""

    def run(*arguments, cwd=paths.ROOT, **options) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "grader", *map(str, arguments)]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False, **options)

    return run
