"""grades.csv, read back as the programs read it that it is made for."""

import csv
import io
import re

import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed (extra dev)")

from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_class import HOSTILE, folders, made_up, result_of

from grader import catalog
from grader.classroom import grades
from grader.classroom.handins import Class, Student
from grader.classroom.summary import Summary

NUMBER = re.compile(r"\d+(\.\d+)?")


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def small(*students: Student, passed: float = 1.0) -> Class:
    """A class of two exercises; the first student handed in the first exercise alone, the others both."""
    exercises = folders(2)
    results = {
        (student.id, folder): result_of(folder, passed=passed)
        for number, student in enumerate(students)
        for folder in exercises[: 1 if number == 0 else 2]
    }
    return Class(students, exercises, results)


def canvas(text: str, course: dict[int, tuple[str, str]]) -> tuple[dict[str, str], dict[int, dict[str, str]]]:
    """What Canvas' gradebook import takes from the file: points possible, and grades by the course's user.

    course: users by id, each with login and name. Follows lib/gradebook_importer.rb of canvas-lms.
    """
    header, *rows = read(text)
    assert "Student" in header[0] and "ID" in header[1] and len(header) > 3
    assert header[2] == "SIS User ID" and header[3] == "SIS Login ID" and "Section" in header[4]
    assignments, possible, found = header[5:], {}, {}
    for row in rows:
        assert len(row) == len(header)
        if "Points Possible" in row[0]:
            possible = dict(zip(assignments, row[5:]))
            continue
        logins = {login: user for user, (login, _) in course.items()}
        names = {name: user for user, (_, name) in course.items()}
        user = int(row[1]) if row[1] and int(row[1]) in course else None
        user = user or logins.get(row[2]) or logins.get(row[3]) or names.get(row[0])
        found[user] = dict(zip(assignments, row[5:]))
    return possible, found


def moodle(text: str, column: str, users: dict[str, int]) -> dict[int, dict[str, float | None]]:
    """What Moodle's gradebook import takes: `column` is mapped to a field of the users, the exercises to grade items.

    Follows grade/import/csv/classes/load_data.php, with its trap: an empty cell keeps the user of the row before.
    """
    header, *rows = read(text)
    items = [index for index, title in enumerate(header) if title[:2].isdigit()]
    found, user = {}, None
    for row in rows:
        value = row[header.index(column)].strip()
        if value not in ("", "0"):
            user = users[value]  # an unknown one ends the whole import
        found[user] = {header[i]: None if row[i] in ("", "-") else float(row[i]) for i in items}
    return found


def test_plain_has_a_row_for_each_student_and_a_column_for_each_exercise():
    klass = made_up(200)
    header, *rows = read(grades.as_csv(klass))
    assert header == ["student", "name", *klass.exercises, "total", "max", "late", "note"]
    assert [row[0] for row in rows] == [student.id for student in klass.students]
    most = sum(catalog.find(folder).max_points for folder in klass.exercises)
    for row in rows:
        for folder, cell in zip(klass.exercises, row[2:-4]):
            result = klass.results.get((row[0], folder))
            assert cell == "" if result is None else float(cell) == result.points
        mine = [result.points for (student, _), result in klass.results.items() if student == row[0]]
        assert float(row[-4]) == pytest.approx(sum(mine)) and float(row[-3]) == most
        assert all(NUMBER.fullmatch(cell) for cell in row[2:-2] if cell) and row[-2:] == ["", ""]


def test_what_could_not_be_graded_is_no_zero_and_has_no_total():
    summary = Summary(folders(2))
    summary.add(Student("a"), [result_of(folders(2)[0])], {folders(2)[1]: "the worker could not start"})
    assert read(grades.table(summary))[1][2:4] == ["5", ""]
    assert read(grades.table(summary))[1][4] == ""
    assert read(grades.table(summary, "moodle"))[1][3:5] == ["5", "-"]
    assert read(grades.table(summary, "moodle"))[1][5] == ""


def test_canvas_finds_the_students_by_number_by_login_and_by_name():
    students = (Student("4711", "adalovelace"), Student("grace@example.edu"), Student("x-1", "Doe, Jane"))
    course = {4711: ("ada", "Ada"), 12: ("grace@example.edu", "Grace"), 13: ("jd", "Doe, Jane"), 14: ("z", "Z")}
    possible, found = canvas(grades.as_csv(small(*students), "canvas"), course)
    first, second = (f"{folder[:2]} {catalog.find(folder).title}" for folder in folders(2))
    assert possible == {first: "5", second: "6"}
    assert found == {
        4711: {first: "5", second: ""},
        12: {first: "5", second: "6"},
        13: {first: "5", second: "6"},
    }


def test_canvas_takes_no_students_row_for_the_points_possible():
    mallory = Student("m", "Points Possible")
    possible, found = canvas(grades.as_csv(small(mallory, passed=0), "canvas"), {1: ("m", "Mallory")})
    assert list(possible.values()) == ["5", "6"]
    assert list(found) == [1]


def test_moodles_gradebook_gets_every_grade_and_no_empty_identifier():
    students = (Student("ada"), Student("bob@example.edu"), Student("12345", "Carl"))
    text = grades.as_csv(small(*students), "moodle")
    found = moodle(text, "ID", {"ada": 1, "bob@example.edu": 2, "12345": 3})
    assert [list(found[user].values()) for user in (1, 2, 3)] == [[5, None], [5, 6], [5, 6]]


def test_moodles_grading_worksheet_finds_participants():
    empty = Student("777", "Nobody")
    klass = small(Student("12345", "Carl"), Student("888", "Dora"))
    klass = Class((*klass.students, empty), klass.exercises, klass.results)
    header, *rows = read(grades.as_csv(klass, "moodle"))
    assert {"Identifier", "Grade", "Last modified (grade)"} <= set(header)  # as importgradeslib.php asks
    sheet = {row[header.index("Identifier")]: row[header.index("Grade")] for row in rows}
    # Moodle passes over an empty grade, and would read "-" as 0.
    assert sheet == {"Participant 12345": "5", "Participant 888": "11", "Participant 777": ""}


@pytest.mark.parametrize("form", grades.FORMS)
def test_names_that_want_to_be_formulas_are_texts(form):
    names = [*HOSTILE, "+1", "-1", "@SUM(A1)", "\t=1", "a;=1+1", "\r=1", "\uff1d1+1", " =1", "Anna\tB", "a\n=b"]
    students = tuple(Student(f"s{number:03}", name) for number, name in enumerate(names))
    text = grades.as_csv(small(*students), form)
    rows = read(text)
    assert len(text.splitlines()) == len(rows)  # no name makes a line of its own
    for row in rows[1:]:
        for cell in row:
            assert not re.match(r"\s*[=+@\uff0b\uff1d\uff20]", cell), cell
            assert not re.match(r"\s*-.", cell), cell  # Moodle's "-" alone is no formula
            assert "\u202e" not in cell and "\x1b" not in cell
            assert ";=" not in cell
    assert any('O\'Neil, "Bobby" Tables' in row for row in rows)


@settings(max_examples=150, deadline=None)
@given(name=st.text(max_size=30), form=st.sampled_from(grades.FORMS))
def test_any_name_gives_one_row_that_can_be_read_back(name, form):
    text = grades.as_csv(small(Student("id-1", name), Student("id-2", name)), form)
    text.encode("utf-8")
    rows = read(text)
    assert len({len(row) for row in rows}) == 1
    assert len(rows) == (4 if form == "canvas" else 3)
    assert not any(cell[:1] in "=+@\t\r" and cell for row in rows for cell in row)


def test_an_unknown_form_is_refused():
    with pytest.raises(ValueError, match="plain, canvas, moodle"):
        grades.as_csv(made_up(1), "excel")
