"""What a class of 20,000 does to the page and to the search for similar pairs: nothing is left out without a word."""

import json
import random
import re

import pytest
from made_up_class import result_of

from grader.classroom import similar
from grader.classroom.handins import Found, Student, Unplaced
from grader.classroom.outputs import write
from grader.classroom.pages import class_page
from grader.classroom.pages.class_page import render
from grader.classroom.similar import LEAST_SHARE, Agreement, Lines, Pair, agreeing
from grader.classroom.summary import Summary

FOLDER, MANY = "03_context_vectors", 20_000
MOST_PAGE = 2 << 20


@pytest.fixture(scope="module")
def summary() -> Summary:
    """Everybody handed in, and everybody is late."""
    summary, result = Summary([FOLDER]), result_of(FOLDER)
    for number in range(MANY):
        summary.add(Student(f"s{number:05}", f"Student <{number}>"), [result], notes=[f"note {number}"])
    return summary


@pytest.fixture(scope="module")
def page(summary):
    code = ("if a < b and c > d:\n" * 40, 'x = "&"\n' * 40)
    pieces = tuple(Agreement(Lines(n, n + 40), Lines(n, n + 40), code) for n in range(4))
    students = [row.student for row in summary.rows[: 2 * similar.MOST_LISTED]]
    pairs = [Pair(a, b, FOLDER, 0.9, pieces, 40.0, 40.0) for a, b in zip(students[::2], students[1::2], strict=True)]
    unplaced = tuple(Unplaced(Student(f"u{number}"), "it is a picture") for number in range(1000))
    return render(summary, pairs, Found("", (), unplaced=unplaced))


def test_the_first_page_is_small_and_all_students_are_in_it_or_beside_it(page):
    assert len(page.text.encode()) < MOST_PAGE
    data = json.loads(re.search(r'id="data">(.*?)</script>', page.text, re.S)[1])
    assert (data["parts"], data["students"]) == (len(page.parts), MANY)
    rows = data["rows"]
    for part in page.parts:
        assert len(part) <= class_page.MOST_PART + 1000
        rows += json.loads(part.removeprefix("addStudents(").removesuffix(");\n"))
    assert [row[0] for row in rows] == [f"s{number:05}" for number in range(MANY)]


def test_what_is_not_listed_is_counted(page):
    shown = page.text.count('<li class="pair">')
    assert 50 < shown < similar.MOST_LISTED
    assert f"{similar.MOST_LISTED - shown:,} more pairs are not shown here" in page.text
    assert f"only the {similar.MOST_LISTED:,} pairs of students that agree most" in page.text
    assert "and 19,800 more: the columns late and note of" in page.text and "note 199<" in page.text
    assert 'and 800 more: <a href="ledger.csv">' in page.text


def test_the_rows_are_written_before_the_page_and_old_ones_go(tmp_path, monkeypatch):
    students = [(Student(f"s{number}"), [result_of(FOLDER)]) for number in range(30)]
    monkeypatch.setattr(class_page, "MOST_ROWS", 200)
    monkeypatch.setattr(class_page, "MOST_PART", 400)
    write(tmp_path, students, [FOLDER])
    many = {path.name for path in (tmp_path / "class_rows").iterdir()}
    assert len(many) > 3
    write(tmp_path, students[:12], [FOLDER])
    assert {path.name for path in (tmp_path / "class_rows").iterdir()} < many
    write(tmp_path, students[:1], [FOLDER])
    assert not list((tmp_path / "class_rows").iterdir())


def test_only_pairs_that_cannot_share_enough_are_passed_over():
    """Against every pair compared with every other, for sets of all kinds: small, equal, within one another."""
    dice = random.Random(5)
    for _ in range(60):
        pool = range(dice.choice((20, 60, 300)))
        prints = [frozenset(dice.sample(pool, dice.randint(0, 12))) for _ in range(dice.randint(2, 40))]
        prints += [prints[0], prints[-1] | {1000}, frozenset(list(prints[1])[:3])]
        excluded = frozenset(dice.sample(pool, 3))
        counts = {p: sum(p in one for one in prints) for p in set().union(*prints)}
        limit = max(similar.FEW, similar.COMMON * len(prints))
        own = [frozenset(p for p in one if p not in excluded and counts[p] <= limit) for one in prints]
        expected = set()
        for j in range(len(own)):
            for i in range(j):
                if own[i] and own[j] and len(own[i] & own[j]) / min(len(own[i]), len(own[j])) >= LEAST_SHARE:
                    expected.add((i, j))
        found = list(agreeing(prints, excluded))
        assert len(found) == len({pair[:2] for pair in found}) and {pair[:2] for pair in found} == expected
        for i, j, score, _ in found:
            assert score == len(own[i] & own[j]) / min(len(own[i]), len(own[j]))
