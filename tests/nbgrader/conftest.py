"""One small course, made and released once; every test works on a copy of it."""

import shutil

import pytest

pytest.importorskip("nbgrader", reason="nbgrader is not installed (the extra `classroom`)")

from a_course import FOLDER, Course

from grader import catalog
from grader.nbgrader import course


@pytest.fixture(scope="session")
def released(tmp_path_factory) -> Course:
    """The course with its assignment generated. Not to be changed."""
    made = Course(tmp_path_factory.mktemp("nbgrader") / "kata")
    course.make(made.root, (catalog.find("03"),))
    made.run("nbgrader", "generate_assignment", FOLDER)
    return made


@pytest.fixture
def classroom(released, tmp_path) -> Course:
    """A copy to work on."""
    shutil.copytree(released.root, tmp_path / "kata")
    return Course(tmp_path / "kata")
