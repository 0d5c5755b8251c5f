"""The statistics of a class against small calculations that are written another way."""

import math
import statistics
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from made_up_class import folders, made_up, result_of
from thorough import sample

from grader import catalog
from grader.authoring import parts
from grader.catalog import mistakes
from grader.classroom import analysis, ledger, similar
from grader.classroom.analysis import spread
from grader.classroom.course_rules import Course, LateRule
from grader.classroom.handins import Found, Origin, Student
from grader.classroom.history import History, Kept
from grader.classroom.office import Marking, Office, marks_of
from grader.classroom.similar import Pair
from grader.classroom.store import Store, write
from grader.classroom.summary import Stuck, Summary, stuck, tenths
from grader.records.results import AND, ERROR, FAILED, FIX_FIRST, NOT_CHECKED, PASSED


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
    found = analysis.checks(sums)
    assert [(one.passed, one.failed, one.not_checked) for one in found[:3]] == [(20, 0, 0), (2, 18, 0), (2, 0, 18)]
    assert analysis.hardest(found, 5) == [found[1]]  # what was never failed is not hard


def test_what_only_follows_from_a_mistake_is_no_mistake_of_the_class():
    """Who gets one function wrong fails the functions that use it too: that is one mistake, not two."""
    mistake = "The scores are halved."
    follows = f"context_vectors uses attention_weights{FIX_FIRST}attention_weights first."
    result = result_of("03_context_vectors", 0.0)
    said = [mistake, follows, *[None] * (len(result.checks) - 2)]
    checks = tuple(replace(check, diagnosis=sentence) for check, sentence in zip(result.checks, said, strict=True))
    sums = Summary(["03_context_vectors"])
    for number in range(2):
        sums.add(Student(f"s{number}"), [replace(result, checks=checks)])
    assert dict(sums.diagnoses) == {(0, mistake): 2}


def test_a_check_that_too_few_were_tried_on_is_not_compared():
    def of(title: str, passed: int, failed: int) -> analysis.Difficulty:
        return analysis.Difficulty(0, title, passed, failed, 0, None)

    one_of_four, seven_of_35, all_of_five = of("a", 3, 1), of("b", 28, 7), of("c", 0, 5)
    assert analysis.hardest([one_of_four, seven_of_35, all_of_five], 9) == [all_of_five, seven_of_35]
    assert analysis.hardest([one_of_four, of("d", 0, 1)], 9) == [one_of_four]  # a class of four
    assert analysis.hardest([], 9) == []


def test_counts_and_point_biserial_are_those_of_the_results(summary, klass):
    found = analysis.checks(summary)
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
    assert analysis.discrimination([3.0] * 4, [1.0] * 50) is None
    assert analysis.discrimination([3.0] * 5, [3.0] * 50) is None
    assert analysis.discrimination([3.0] * 5, [1.0] * 5) == pytest.approx(1)


# What to teach.


def test_every_mistake_belongs_to_one_misconception_and_every_one_has_a_section_to_show():
    """`make verify` reads the mistakes of every exercise."""
    found = [problem for exercise in sample(catalog.exercises(), 1) for problem in parts.mistake_problems(exercise)]
    assert found == []
    used = {
        one.id
        for exercise in catalog.exercises()
        for one in mistakes.misconceptions_of_mistakes(exercise.folder).values()
    }
    assert used == mistakes.misconceptions().keys()


def test_students_are_counted_once_for_a_misconception_and_the_example_is_the_commonest(klass, summary):
    """Counted again from the results: for each misconception the set of students with one of its mistakes."""
    names = {
        (folder, mistake.sentence): mistake.misconception
        for folder in klass.exercises
        for mistake in mistakes.mistakes(folder)
    }
    who, said = {}, {}
    for (student, folder), result in klass.results.items():
        for sentence in {check.diagnosis for check in result.checks if check.diagnosis}:
            who.setdefault(names[folder, sentence], set()).add(student)
            said.setdefault(names[folder, sentence], []).append((klass.exercises.index(folder), sentence))
    found = analysis.to_teach(summary)
    assert {one.misconception.id: len(one.students) for one in found} == {id: len(all_) for id, all_ in who.items()}
    counts = [len(one.students) for one in found]
    assert counts == sorted(counts, reverse=True)
    for one in found:
        all_said = said[one.misconception.id]
        assert all_said.count(one.example) == max(map(all_said.count, all_said))
        assert {summary.rows[number].student.id for number in one.students} == who[one.misconception.id]


def test_a_diagnosis_of_two_mistakes_counts_for_both_and_one_without_a_mistake_for_none():
    folder = folders(1)[0]
    first, second = mistakes.find(folder, "scores_in_float32"), mistakes.find(folder, "scaled_too_early")
    sums = Summary([folder])
    for number, words in enumerate([AND.join((first.sentence, second.sentence)), "The values are twice as large."]):
        result = result_of(folder, 0.0)
        checks = (replace(result.checks[0], diagnosis=words), *result.checks[1:])
        sums.add(Student(f"s{number}"), [replace(result, checks=checks)])
    assert {one.misconception.id: one.students for one in analysis.to_teach(sums)} == {"dtype": (0,), "scale": (0,)}


# Whom to help.

NOON = datetime(2026, 11, 3, 12, tzinfo=timezone.utc)


def test_who_is_stuck_and_behind_stands_first_with_the_reasons_in_words():
    one, two = folders(2)
    sums = Summary([one, two])
    for number in range(4):
        sums.add(Student(f"good {number}"), [result_of(one), result_of(two)])
    sums.add(Student("behind"), [result_of(one)])
    sums.add(Student("stuck"), [result_of(one, 0.5), result_of(two)])
    sums.add(Student("absent"), [])
    needs = analysis.rank(sums, {"stuck": [Stuck(one, 6, NOON)]}, 20)
    assert [need.row.student.id for need in needs] == ["stuck", "behind"]
    most = [exercise.max_points for exercise in sums.exercises]
    half = sums.rows[-1].points[0]
    assert needs[0].score == pytest.approx((most[0] - half) / sum(most) + 1)  # six attempts count as four
    assert needs[1].score == pytest.approx(most[1] / sum(most) + 1 / 2)
    assert needs[0].reasons == (
        f"{half + most[1]:g} points, the median is {sum(most):g}",
        f"stuck at {one[:2]} since 3 November: 6 attempts passed the same checks",
    )
    assert needs[1].reasons[1] == f"not begun, though half of the class has: {two[:2]}"
    assert len(analysis.rank(sums, {}, 1)) == 1


def test_only_the_last_attempts_that_passed_the_same_checks_count():
    folder = folders(1)[0]
    half, more = result_of(folder, 0.5), result_of(folder, 0.8)
    known = {"half": half, "more": more, "all": result_of(folder)}
    days = [NOON.replace(day=day) for day in range(1, 6)]

    def attempts(*keys):
        return [("ada", folder, list(zip(days, keys)))]

    assert stuck(attempts("half", "more", "more", "more"), known.get) == {"ada": [Stuck(folder, 3, days[1])]}
    assert stuck(attempts("more", "half"), known.get) == {}
    assert stuck(attempts("more", "more", "all"), known.get) == {}
    assert stuck(attempts("half", None, "half"), known.get) == {}  # one whose result is gone says nothing


def test_of_fewer_than_five_nobody_is_behind():
    """Three of four have all points, one has none: that is no conclusion. A fifth one makes it one."""
    folder = folders()[0]
    for many in (4, 5):
        sums = Summary([folder])
        for number in range(many):
            share = 1.0 if number else 0.0
            sums.add(Student(f"s{number}"), [result_of(folder, share, status=PASSED if number else FAILED)])
        assert [need.row.student.id for need in analysis.rank(sums, {}, 9)] == (["s0"] if many == 5 else [])


def test_a_part_of_a_class_is_the_sum_of_that_part(klass, summary):
    """Summed again from the results of every other hand-in of two exercises."""
    chosen = [klass.exercises[3], klass.exercises[1]]
    handins = {key for number, key in enumerate(sorted(klass.results)) if number % 2}
    part = summary.only(chosen, handins)
    again = Summary(chosen)
    for student in klass.students:
        again.add(
            student, [klass.results[key] for e in chosen if (key := (student.id, e)) in klass.results.keys() & handins]
        )
    assert part.rows == again.rows and part.diagnoses == again.diagnoses
    assert analysis.checks(part) == analysis.checks(again)
    assert summary.only(klass.exercises).rows == [replace(row, late=(), notes=()) for row in summary.rows]


# How totals are spread, and clusters.


def test_the_spread_is_that_of_a_small_calculation():
    totals = [7.0, 1.0, 4.0, 10.0, 2.5, 8.0]
    found, ordered = spread(totals), sorted(totals)
    assert found.mean == pytest.approx(32.5 / 6) and found.median == 5.5 and (found.least, found.most) == (1, 10)
    assert found.lower == pytest.approx(ordered[1] + 0.25 * (ordered[2] - ordered[1]))  # place 1.25 of 0 to 5
    assert found.upper == pytest.approx(ordered[3] + 0.75 * (ordered[4] - ordered[3]))
    assert found.deviation == pytest.approx(math.sqrt(sum((one - 32.5 / 6) ** 2 for one in totals) / 5))
    assert spread([]) is None and spread([3.0]).deviation == 0 and spread([3.0]).upper == 3.0
    assert tenths(totals, 10.0) == (0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1)


def test_clusters_join_what_hangs_together():
    a, b, c, d, e = (Student(name) for name in "abcde")
    pairs = [Pair(one, two, "01", 0.9, (), 9.0, 9.0) for one, two in [(a, b), (d, e), (b, c), (d, e)]]
    found = similar.clusters(pairs)
    assert [cluster.students for cluster in found] == [(a, b, c), (d, e)]
    assert [cluster.pairs for cluster in found] == [(pairs[0], pairs[2]), (pairs[1], pairs[3])]


def test_runs_are_remembered_where_something_changed_and_who_is_stuck_is_found_in_the_store(tmp_path):
    folder, ada = folders(1)[0], Student("ada")
    store = Store(tmp_path)
    marking = Marking(Office(Course()), store, history := History(store), Found("", ()))
    for number, share in enumerate([0.5, 0.5, 1.0]):
        result = result_of(folder, share)
        store.add(f"key {number}", write(result))
        history.attempt(Kept("ada", folder, f"digest {number}", f"key {number}", NOON, Origin()))
        sums = Summary([folder])
        sums.add(ada, [result])
        first, again = marking.past(sums), marking.past(sums)
        assert first == again  # nothing changed
        assert len(again.runs) == 1  # other points are no other hand-ins
        assert again.stuck == ({"ada": [Stuck(folder, 2, NOON)]} if number == 1 else {})
    sums.add(Student("bob"), [])
    assert [(one.students, one.handed_in) for one in marking.past(sums).runs] == [(1, 1), (2, 1)]
    store.close()


def test_the_same_file_that_came_again_later_is_an_attempt_of_its_own(tmp_path):
    """The first one was in time, and is the best; by the rule of the latest the second one counts, and is late."""
    folder = folders(1)[0]
    store = Store(tmp_path)
    result, history = result_of(folder, 1.0), History(store)
    store.add("key", write(result), ledger.version_of_exercise(folder))
    for hours in (0, 0, 30):  # the second one is a run in which nothing is new
        history.attempt(Kept("ada", folder, "digest", "key", NOON + timedelta(hours=hours), Origin()))
    for policy, end, points in (("best", {}, 1.0), ("latest", {folder: NOON + timedelta(days=9)}, 0.8)):
        course = Course(deadlines={folder: NOON}, late=LateRule("day", 10), attempts=policy, cut_off=end)
        mark = marks_of(Office(course), store, history, Student("ada"), [result])[folder]
        assert (mark.points, mark.is_earlier) == (pytest.approx(points * result.points), policy == "best")
    for hours in (0, 30):  # a clone's latest commit may have changed another file
        history.attempt(Kept("bob", folder, "digest", "key", NOON + timedelta(hours=hours), Origin(clone="bob")))
    assert len(history.of("ada")[folder]) == 2 and len(history.of("bob")[folder]) == 1
    store.close()
