"""The statistics of a class against small calculations that are written another way."""

import statistics
from dataclasses import replace

import pytest
from made_up_class import made_up, result_of

from grader.classroom.analysis import difficulty
from grader.classroom.handins import Student
from grader.classroom.summary import Summary
from grader.records.results import ERROR, FAILED, NOT_CHECKED, PASSED


@pytest.fixture(scope="module")
def klass():
    return made_up(120)


@pytest.fixture(scope="module")
def summary(klass) -> Summary:
    return Summary.of(klass)


def test_a_check_that_few_were_tried_on_is_ranked_by_those(klass):
    """Nine of ten fail the second check; the third is never reached by them."""
    folder = klass.exercises[0]
    sums = Summary([folder])
    for number in range(20):
        result = result_of(folder)
        outcomes = [PASSED, PASSED if number < 2 else FAILED, PASSED if number < 2 else NOT_CHECKED]
        checks = [replace(check, outcome=o) for check, o in zip(result.checks, outcomes)]
        sums.add(Student(f"s{number}"), [result_of(folder, checks=(*checks, *result.checks[3:]), status=FAILED)])
    found = difficulty.checks(sums)
    assert [(one.passed, one.failed, one.not_checked) for one in found[:3]] == [(20, 0, 0), (2, 18, 0), (2, 0, 18)]
    assert difficulty.hardest(found, 5) == [found[1]]  # what was never failed is not hard


def test_counts_and_point_biserial_are_those_of_the_results(summary, klass):
    found = difficulty.checks(summary)
    passed_by = {}  # student → (exercise, check) → points, 0 where failed
    for (student, folder), result in klass.results.items():
        if result.started and result.status != ERROR:
            for check in result.checks:
                passed_by.setdefault(student, {})[folder, check.id] = check.points
    keys = [(exercise.folder, name) for exercise in summary.exercises for name in exercise.points]
    assert len(found) == len(keys)
    for one, key in zip(found, keys):
        own = [points for points in passed_by.values() if key in points]
        right = [float(points[key] > 0) for points in own]
        rest = [sum(points.values()) - points[key] for points in own]
        assert (one.passed, one.failed) == (right.count(1), right.count(0))
        assert one.discrimination == pytest.approx(statistics.correlation(right, rest), abs=1e-9)


def test_a_correlation_of_few_or_of_equal_scores_is_none():
    assert difficulty.discrimination([3.0] * 4, [1.0] * 50) is None
    assert difficulty.discrimination([3.0] * 5, [3.0] * 50) is None
    assert difficulty.discrimination([3.0] * 5, [1.0] * 5) == pytest.approx(1)
