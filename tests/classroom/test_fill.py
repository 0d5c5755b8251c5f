"""Points go into a platform's own file, which is read back by a spreadsheet's rules; no score is lost."""

import csv
import io
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

MARKS = """student,name,exercise,points,max,status,file,note,grader
101,Ada Lovelace,03_context_vectors,7,7,graded,a,,x
102,"O'Hara, Bob",03_context_vectors,5.33,7,graded,b,,x
103,Cyd Ünal,03_context_vectors,,7,needs a person,c,why,x
104,Dan Dee,03_context_vectors,,7,nothing handed in,,,x
105,Eve Ex,03_context_vectors,0,7,not begun,e,,x
101,Ada Lovelace,02_softmax_naive,3,5,graded,a,,x
"""
CANVAS = """\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,03 Context vectors (300),Essay (301),Final Score
    Points Possible,,,,,7.00,10.00,
"Lovelace, Ada",101,s1,ada@x.edu,"A, B",,9,88
"O'Hara, Bob",102,s2,bob@x.edu,A,2,8,
"Ünal, Cyd",103,s3,cyd@x.edu,A,4.5,,
"Dee, Dan",104,s4,dan@x.edu,A,,,
"Ex, Eve",105,s5,eve@x.edu,A,EX,,
"Student, Test",999,,abc,A,,,
"""
WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\r\n"
    'Participant 101,Ada Lovelace,ada@x.edu,Submitted,,10.00,Yes,-,-,"said: ""good"""\r\n'
    'Participant 102,Bob O\'Hara,bob@x.edu,Submitted,1.00,10.00,Yes,-,"Monday, 2 November 2026, 10:00 AM",\r\n'
    "Participant 103,Cyd Ünal,cyd@x.edu,Submitted,4.00,10.00,Yes,-,-,\r\n"
    "Participant 105,Eve Ex,eve@x.edu,Submitted,3.00,10.00,No,-,-,\r\n"
)


@pytest.fixture
def fill(said, tmp_path):
    """`fill(text, …)` fills a gradebook and gives the rows, by the first column, and what was said."""
    (tmp_path / "marks.csv").write_text(MARKS, "utf-8")

    def run(text: str, *words: object, name: str = "book.csv", marks: str = "marks.csv", code: int = 0):
        (tmp_path / name).write_bytes(text.encode())
        done = said("fill", name, marks, "--output", "filled.csv", *words, cwd=tmp_path)
        assert done.returncode == code, done.stderr + done.stdout
        return read(tmp_path / "filled.csv"), done.stdout

    return run


def read(path: Path) -> dict[str, dict[str, str]]:
    text = path.read_bytes().decode("utf-8-sig")
    assert text.count("\r\n") in (0, text.count("\n"))
    lines = list(
        csv.DictReader(io.StringIO(text, newline=""), delimiter=";" if ";" in text.partition("\n")[0] else ",")
    )
    return {next(iter(line.values())): line for line in lines}


def test_canvas_gradebook(fill, tmp_path):
    rows, told = fill(CANVAS)
    before = read(tmp_path / "book.csv")
    column = "03 Context vectors (300)"
    assert {name: row[column] for name, row in rows.items()} == {
        "    Points Possible": "7.00", "Lovelace, Ada": "7", "O'Hara, Bob": "5.33", "Ünal, Cyd": "4.5", "Dee, Dan": "",
        "Ex, Eve": "EX", "Student, Test": "",
    }  # fmt: skip
    assert [{**row, column: ""} for row in rows.values()] == [{**row, column: ""} for row in before.values()]
    assert (tmp_path / "filled.csv").read_bytes().startswith("\ufeff".encode())
    assert "1 excused or locked, kept, 2 filled, 1 without points, 1 without points here, kept" in told


def test_moodles_worksheet(fill):
    rows, told = fill(WORKSHEET, "--column", "03=Grade")
    assert [row["Grade"] for row in rows.values()] == ["7", "5.33", "4.00", "3.00"]
    changed = [row["Last modified (grade)"] for row in rows.values()]
    assert changed[0].endswith("+00:00") and changed[1].endswith("+00:00") and changed[2:] == ["-", "-"]
    assert rows["Participant 101"]["Feedback comments"] == 'said: "good"'
    assert "it has 10 points there, and 7 here" in told
    rows, _ = fill(WORKSHEET, name="Grades-CS1-03 Context vectors-77.csv")  # its name says the exercise
    assert rows["Participant 102"]["Grade"] == "5.33"


def test_any_file_with_ids(fill):
    text = "Matrikelnummer;Name;Blatt 1;Blatt 2\n105;Ex;;\n101;L;;1\n"
    rows, told = fill(
        text, "--column", "id=Matrikelnummer", "--column", "03=Blatt 1", "--column", "02,03=Blatt 2", code=3
    )
    assert [list(row.values()) for row in rows.values()] == [["105", "Ex", "0", "0"], ["101", "L", "7", "10"]]
    assert "no row: O'Hara, Bob (102)" in told


@pytest.mark.parametrize(
    ("text", "words", "reason"),
    [
        ("id,Essay\n101,\n", (), "No column of book.csv is called like an exercise with marks"),
        ("who,03\n101,\n", (), "has no column of ids that we know. It has: who, 03"),
        ("id,A\n101,\n", ("--column", "03=B"), "There is no column B"),
        (WORKSHEET, (), "Of which exercises is book.csv?"),
        ("id,03 Context vectors\n101,\n101,\n", (), "two students with the id 101"),
    ],
)
def test_wrong_use_writes_nothing(said, tmp_path, text, words, reason):
    (tmp_path / "marks.csv").write_text(MARKS, "utf-8")
    (tmp_path / "book.csv").write_bytes(text.encode())
    done = said("fill", "book.csv", "marks.csv", *words, cwd=tmp_path)
    assert done.returncode == 2 and reason in done.stderr, done.stderr
    assert not (tmp_path / "book-filled.csv").exists()
