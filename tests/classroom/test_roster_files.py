"""Files of a roster that hold no assignment's worksheet: Moodle's grade export, nbgrader's list of students."""

import csv
import io
from pathlib import Path

import pytest
from made_up_class import result_of

from grader.catalog.errors import WrongUse
from grader.classroom.course_rules import TOTAL
from grader.classroom.handins import Student
from grader.classroom.roster import filling, reading
from grader.classroom.summary import Summary

SOFTMAX, CONTEXT = "02_softmax_naive", "03_context_vectors"
EXPORT = (
    '\ufeff"First name","Last name","ID number",Institution,"Email address",'
    '"Assignment: 02 Softmax (Real)","Assignment: Homework two (Real)","Course total (Real)","Last downloaded"\r\n'
    "Ada,Lovelace,i1,,ada@x.edu,-,2.00,2.00,1764000000\r\n"
    "Grace,Hopper,,,grace@x.edu,-,-,-,1764000000\r\n"
    "Emmy,Noether,i3,,emmy@x.edu,1.00,-,1.00,1764000000\r\n"
)


def summary_of(**passed: tuple[float, float]) -> Summary:
    """A class of these students, each with the shares of both exercises that pass. Emmy handed in nothing."""
    summary = Summary((SOFTMAX, CONTEXT))
    for name, (softmax, context) in passed.items():
        summary.add(Student(name.replace("_at_", "@")), [result_of(SOFTMAX, softmax), result_of(CONTEXT, context)])
    summary.add(Student("i3"), [])
    return summary


def test_moodles_grade_export_comes_back_filled_in(tmp_path):
    (tmp_path / "grades.csv").write_text(EXPORT, "utf-8", newline="")
    roster = reading.read_roster(tmp_path / "grades.csv")
    assert [(person.id, person.name) for person in roster.people] == [
        ("i1", "Ada Lovelace"), ("grace@x.edu", "Grace Hopper"), ("i3", "Emmy Noether"),
    ]  # fmt: skip
    columns = {"Homework two": (CONTEXT,), "Course total (Real)": (TOTAL,)}
    summary = summary_of(**{"i1": (1, 1), "grace_at_x.edu": (1, 0)})
    lines = filling.write(tmp_path / "upload", roster, columns, summary)
    text = (tmp_path / "upload/grades.csv").read_bytes().decode()
    assert text.startswith("\ufeffFirst name,Last name,ID number,") and text.count("\r\n") == 4
    before, after = (list(csv.reader(io.StringIO(one[1:], newline=""))) for one in (EXPORT, text))
    before[1][5:8] = ["6", "7", "13"]
    before[2][5:8] = ["6", "0", "6"]
    assert after == before  # what Emmy has in Moodle stays, and every other column
    assert any("1 cell stays as it was" in line for line in lines)


def test_a_column_that_is_called_like_no_exercise_is_told(tmp_path):
    (tmp_path / "grades.csv").write_text(EXPORT.replace("02 Softmax", "Homework one"), "utf-8", newline="")
    lines = filling.write(tmp_path / "upload", reading.read_roster(tmp_path / "grades.csv"), {}, summary_of(i1=(1, 1)))
    assert any("[columns]" in line for line in lines)
    assert "13" not in (tmp_path / "upload/grades.csv").read_text()


def test_nbgraders_students(tmp_path):
    path: Path = tmp_path / "students.csv"
    path.write_text(
        "id,first_name,last_name,email,lms_user_id\nada,Ada,Lovelace,ada@x.edu,77\ngrace,Grace,,,\n\n", "utf-8"
    )
    ada, grace = reading.read_roster(path).people
    assert (ada.id, ada.name, ada.email, ada.sis_id) == ("ada", "Ada Lovelace", "ada@x.edu", "77")
    assert (grace.id, grace.name) == ("grace", "Grace")
    assert (
        filling.write(tmp_path / "upload", reading.read_roster(path), {}, summary_of(ada=(1, 1))) == ()
    )  # no grades in it
    assert not (tmp_path / "upload").exists()


@pytest.mark.parametrize("start", [b"PK\x03\x04rest", b"\xd0\xcf\x11\xe0rest"])
def test_a_spreadsheets_own_file_is_named_as_such(tmp_path, start):
    (tmp_path / "roster.xlsx").write_bytes(start)
    with pytest.raises(WrongUse, match="is a spreadsheet's own file"):
        reading.read_roster(tmp_path / "roster.xlsx")


def test_gradescopes_roster(tmp_path):
    titles = "First Name,Last Name,SID,Email,Role,Sections\n"
    text = f"{titles}Ada,Lovelace,7,a@x.edu,Student,\nGrace,Hopper,,g@x.edu,Instructor,\n"
    (tmp_path / "roster.csv").write_text(text)
    (ada,) = reading.read_roster(tmp_path / "roster.csv").people
    assert (ada.id, ada.name, ada.email) == ("7", "Ada Lovelace", "a@x.edu")


def test_a_worksheet_of_no_known_exercise_is_asked_about_without_an_answer_to_copy(tmp_path):
    titles = "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed"
    for name in ("Grades-A-1.csv", "Grades-B-2.csv"):
        text = (
            f"{titles},Last modified (submission),Last modified (grade)\nParticipant 1,Ada,a@x.edu,-,-,7.00,Yes,-,-\n"
        )
        (tmp_path / name).write_text(text)
    lines = filling.write(tmp_path / "upload", reading.read_roster(tmp_path), {}, summary_of(**{"a@x.edu": (1, 1)}))
    asked = [line for line in lines if "of which exercise is it? Write its number" in line]
    assert len(asked) == 2 and all(line.endswith('= "…"') for line in asked)
