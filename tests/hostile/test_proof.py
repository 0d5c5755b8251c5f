"""A class of honest students gets the same verdicts when hostile hand-ins lie among them and the grader is killed.

A small class is tried here, in all layouts with THOROUGH=1; a hundred students, sixty hostile hand-ins and twenty kills
by `python tests/bench/bench_classroom.py proof`.
"""

import sys

import hostile_class
import pytest
from thorough import THOROUGH, sample

pytestmark = pytest.mark.slow

JOBS = 2 if THOROUGH else 1  # each takes seconds to start
STUDENTS = 14 if THOROUGH else 7  # each layout of a hand-in is there
EXERCISES = ("02", "03") if THOROUGH else ("02",)


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of others' code is Linux's")
@pytest.mark.parametrize("layout, kills", sample([("mixed", 1), ("downloads", 0), ("zip", 0)], 1))
def test_no_hostile_hand_in_moves_an_honest_verdict(layout, kills, tmp_path, said, here):
    options = ("--ex", ",".join(EXERCISES), "--jobs", JOBS)
    alone = hostile_class.lay(tmp_path / "alone", layout, EXERCISES, students=STUDENTS, strangers=0)
    expected = hostile_class.grade(alone, tmp_path / "expected", *options, run=said)
    assert len(expected) == len(EXERCISES) * STUDENTS
    among = hostile_class.lay(tmp_path / "among", layout, EXERCISES, students=STUDENTS, strangers=12)
    if kills:
        assert hostile_class.killed(among, tmp_path / "out", kills, 8.0, *options)
    got = hostile_class.grade(among, tmp_path / "out", *options)
    assert hostile_class.differing(expected, got) == []
    assert len(got) > len(expected)
