"""One small course, made and released once; every test works on a copy of it."""

import shutil
from pathlib import Path

import pytest
from a_course import FOLDER, Course
from made_once import made_once

from grader import catalog


@pytest.fixture(scope="session")
def released(tmp_path_factory) -> Course:
    """The course with its assignment generated. Not to be changed."""
    from grader.integrations.nbgrader import course

    def release(root: Path) -> None:
        course.make(root, (catalog.find("03"),))
        Course(root).nbgrader("generate_assignment", FOLDER)

    return Course(made_once(tmp_path_factory, "kata", release))


@pytest.fixture(autouse=True)
def lent(fork_server, monkeypatch) -> None:
    """nbgrader in this process has workers of the shared fork server, unless it asks for a tier."""
    from grader.integrations.nbgrader import preprocessors

    start = preprocessors.ForkServer
    monkeypatch.setattr(preprocessors, "ForkServer", lambda device, tier: start(device, tier) if tier else fork_server)


@pytest.fixture
def classroom(released, tmp_path) -> Course:
    shutil.copytree(released.root, tmp_path / "kata")
    return type(released)(tmp_path / "kata")
