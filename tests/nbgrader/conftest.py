"""One small course, made and released once; every test works on a copy of it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from grader import catalog

if TYPE_CHECKING:  # it needs nbgrader, and each test file skips without it
    from a_course import Course


@pytest.fixture(scope="session")
def released(tmp_path_factory) -> Course:
    """The course with its assignment generated. Not to be changed."""
    from a_course import FOLDER, Course

    from grader.integrations.nbgrader import course

    made = Course(tmp_path_factory.mktemp("nbgrader") / "kata")
    course.make(made.root, (catalog.find("03"),))
    made.nbgrader("generate_assignment", FOLDER)
    return made


@pytest.fixture
def classroom(released, tmp_path) -> Course:
    """A copy to work on."""
    shutil.copytree(released.root, tmp_path / "kata")
    return type(released)(tmp_path / "kata")
