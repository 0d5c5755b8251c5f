"""The checks of an exercise are collected once in a process."""

from dataclasses import replace

import pytest

from grader import catalog
from grader.catalog.errors import InfrastructureError
from grader.judge import collection


def test_checks_are_collected_once_and_held_against_the_points_each_time(monkeypatch):
    exercise = catalog.find("03")
    checks = collection.collect(exercise)
    monkeypatch.setattr(pytest, "main", None)  # a second collection would call it
    assert collection.collect(exercise) is checks
    with pytest.raises(InfrastructureError, match="do not agree on another"):
        collection.collect(replace(exercise, points=exercise.points | {"another": 1.0}))
