"""The teacher's office as the instructor types it: roster, losses, rules of the course, handing back."""

import contextlib
import csv
import io
import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from in_this_process import Here
from made_up_class import result_of

from grader import catalog
from grader.catalog import mistakes, paths, stubs
from grader.catalog.errors import WrongUse
from grader.classroom import arrivals, course_rules, ledger, marking, private, run, store
from grader.classroom.course_rules import Course, LateRule
from grader.classroom.marking import Attempt, Lateness, Override, TotalRule, counting_attempt, lateness, share
from grader.reports import html

SOFTMAX, CONTEXT = "02_softmax_naive", "03_context_vectors"
RIGHT = {folder: paths.solution(folder).read_text("utf-8") for folder in (SOFTMAX, CONTEXT)}
WRONG = {folder: mistakes.mistakes(folder)[0].source for folder in (SOFTMAX, CONTEXT)}
MOST = {folder: catalog.find(folder).max_points for folder in (SOFTMAX, CONTEXT)}
CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,Essay (7),03 Context vectors (8),Final Score
    Points Possible,,,,,5,7,(read only)
"Lovelace, Ada",11,S1,ada@x.edu,A,3,,
"Hopper, Grace",12,S2,grace@x.edu,B,EX,1.5,
"=HYPERLINK(""x"")",13,S3,alan@x.edu,A,,EX,
"Student, Test",99,,0123456789012345678901234567890123456789,A,,,
"""


@pytest.fixture
def here(fork_server, monkeypatch) -> Iterator[Here]:
    """Classes are graded in this process."""
    executor = Here(fork_server)
    monkeypatch.setattr(run, "executor_of", executor)
    monkeypatch.setattr(run.similar, "pairs", lambda handins, jobs: [])  # it starts processes of its own
    yield executor


@pytest.fixture
def grade(here, said, tmp_path):
    """`grade("roster.csv", DROP)` grades tmp_path/in into tmp_path/out: the command, with these options."""

    def work(*options: str, folder: str = "in") -> subprocess.CompletedProcess:
        done = said("grade", tmp_path / folder, "--out", tmp_path / "out", *options, cwd=tmp_path)
        assert "Traceback" not in done.stderr
        return done

    (tmp_path / "in").mkdir()
    return work


def lay(root: Path, name: str, text: str = RIGHT[CONTEXT]) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, "utf-8")


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8"), newline="")))


def by_student(root: Path) -> dict[str, dict[str, str]]:
    return {row["student"]: row for row in rows(root / "out/grades.csv")}


# 1. Roster.


def test_canvas_gradebook_comes_back_filled_in(grade, tmp_path):
    lay(tmp_path, "roster.csv", CANVAS)
    lay(tmp_path / "in", "lovelaceada_11_901_context_vectors.py")
    lay(tmp_path / "in", "hyperlinkx_LATE_13_902_context_vectors.py")
    done = grade("--roster", "roster.csv")
    assert done.returncode == 0, done.stderr
    assert list(by_student(tmp_path)) == ["11", "12", "13"]
    before = list(csv.reader(io.StringIO(CANVAS, newline="")))
    after = list(csv.reader(io.StringIO((tmp_path / "out/upload/roster.csv").read_text(), newline="")))
    before[2][6] = "7"  # the only cell for which there are points; a blank would delete Grace's score
    assert after == before
    assert "2 cells stay as they were" in done.stderr


def test_names_that_nobody_or_two_have_wait_for_a_person(grade, tmp_path):
    lay(tmp_path, "roster.csv", "id,name,email\na1,Ada Smith,ada@x.edu\na2,Ada Smith,smith@x.edu\nb,Bob Ray,b@x.edu\n")
    for name in ("ada smith", "b@x.edu", "a2", "mallory", "B. Ray"):
        lay(tmp_path / "in", f"{name}/context_vectors.py")
    done = grade("--roster", "roster.csv")
    assert done.returncode == 3 and "aliases.csv" in done.stderr and "a1, a2" in done.stderr
    assert "nobody on the roster is called B. Ray. Similar names: b" in done.stderr
    assert {id: row[CONTEXT] for id, row in by_student(tmp_path).items()} == {"a1": "", "a2": "7", "b": "7"}
    table = (tmp_path / "aliases.csv").read_text().replace("ada smith,,a1 a2", "ada smith,a1,a1 a2")
    (tmp_path / "aliases.csv").write_text(
        table.replace("mallory,mallory,,", "mallory,mallory,-,").replace("B. Ray,B. Ray,,b", "B. Ray,B. Ray,-,b")
    )
    done = grade("--roster", "roster.csv")
    assert done.returncode == 0, done.stderr
    assert all(row[CONTEXT] == "7" for row in by_student(tmp_path).values())
    (tmp_path / "aliases.csv").write_text("found,student\nmallory,nobody\n")
    assert grade("--roster", "roster.csv").returncode == 2


NAMES = ["Ada Lovelace", "Grace Hopper", "Alan Turing", "Emmy Noether", "Bob Ray", "Cy Young"]


@pytest.mark.parametrize("on_roster", ["Jean-Luc Le Goff", '"Le Goff, Jean-Luc"', "Le Goff Jean-Luc"])
@pytest.mark.parametrize("folder", ["Jean-Luc Le Goff", "Le Goff, Jean-Luc", "Le Goff Jean-Luc"])
def test_the_order_of_a_name_does_not_matter(grade, tmp_path, on_roster, folder):
    lay(tmp_path, "roster.csv", f"id,name\n1,{on_roster}\n2,Luc Jean\n")
    lay(tmp_path / "in", f"{folder}/context_vectors.py")
    assert grade("--roster", "roster.csv").returncode == 0
    assert by_student(tmp_path)["1"][CONTEXT] == "7"


@pytest.mark.parametrize("names", [('"Li, Wei"', '"Wei, Li"'), ("Li Wei", "Wei Li")])
def test_two_whose_names_are_each_others_turned_round_are_not_mixed_up(grade, tmp_path, names):
    lay(tmp_path, "roster.csv", f"id,name\n1,{names[0]}\n2,{names[1]}\n")
    comma = "," in names[0]
    lay(tmp_path / "in", f"{'Li Wei' if comma else 'Li, Wei'}/context_vectors.py")  # by which rule was it written?
    done = grade("--roster", "roster.csv")
    assert done.returncode == 3 and "could be 1, 2" in done.stderr


def moodle(tmp_path: Path, numbers: dict[str, int], worksheets: bool) -> None:
    """Two assignments as Moodle hands them out, each with numbers of its own; perhaps their worksheets."""
    for folder, first in numbers.items():
        title = f"{folder[:2]} {catalog.find(folder).title}"
        with zipfile.ZipFile(tmp_path / f"in/CS1-{title}-4{folder[:2]}.zip", "w") as archive:
            for number, name in enumerate(NAMES, first):
                archive.writestr(f"{name}_{number}_assignsubmission_file_/{folder[3:]}.py", RIGHT[folder])
        if worksheets:
            text = "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
            text += "Last modified (submission),Last modified (grade),Feedback comments\r\n"
            for number, name in enumerate(NAMES, first):
                late = "Saturday, 21 November 2026, 11:30 PM" if name == NAMES[0] else "20 November 2026, 1:15 PM"
                text += f"Participant {number},{name},{name[:3].lower()}@x.edu,Submitted,-,{MOST[folder]:.2f},"
                text += f'{"No" if name == NAMES[1] else "Yes"},"{late}",-,\r\n'
            lay(tmp_path, f"roster/Grades-CS1-{title}-4{folder[:2]}.csv", "\ufeff" + text)


def test_moodles_numbers_are_joined_by_the_worksheets(grade, tmp_path):
    moodle(tmp_path, {SOFTMAX: 100, CONTEXT: 200}, worksheets=True)
    lay(tmp_path, "course.toml", 'roster = "roster"\n[late]\npercent = 10\n[deadlines]\n"03" = 2026-11-20\n')
    done = grade()
    assert done.returncode == 0, done.stderr
    table = by_student(tmp_path)
    assert len(table) == 6 and all(row[SOFTMAX] == "6" for row in table.values())
    assert table["ada@x.edu"][CONTEXT] == "6.3" and table["ada@x.edu"]["late"] == "03: 1 day late"
    (sheet,) = (tmp_path / "out/upload").glob("*403.csv")
    assert sheet.read_bytes().startswith(b"\xef\xbb\xbfIdentifier,Full name,") and b"\r\n" in sheet.read_bytes()
    filled = list(csv.DictReader(io.StringIO(sheet.read_text("utf-8-sig"), newline="")))
    grades = {row["Full name"]: (row["Grade"], row["Last modified (grade)"] != "-") for row in filled}
    assert grades[NAMES[0]] == ("6.3", True) and grades[NAMES[1]] == ("-", False)  # hers is locked
    assert all(grades[name] == ("7", True) for name in NAMES[2:])


def test_moodles_numbers_are_joined_by_unique_names_without_a_roster(grade, tmp_path):
    moodle(tmp_path, {SOFTMAX: 100, CONTEXT: 200}, worksheets=False)
    done = grade()
    assert done.returncode == 0 and "6 numbers of Moodle were joined" in done.stderr
    assert len(by_student(tmp_path)) == 6
    lay(tmp_path / "next", f"{NAMES[0]}_300_assignsubmission_file_/01_dot_product_scores.py", "x = 1\n")
    lay(tmp_path / "next", f"{NAMES[1]}_301_assignsubmission_file_/softmax_naive.py", RIGHT[SOFTMAX])
    done = grade("--ex", "01", folder="next")
    assert done.returncode == 0, done.stderr
    assert by_student(tmp_path)["100"]["01_dot_product_scores"] == "0" and len(by_student(tmp_path)) == 6


def test_two_people_of_one_name_are_not_joined(grade, tmp_path):
    for place in ("02_softmax_naive/Ada_1", "02_softmax_naive/Ada_2", "03_context_vectors/Ada_3"):
        lay(tmp_path / "in", f"{place}_assignsubmission_file_/{place[3:].split('/')[0]}.py")
    grade()
    assert list(by_student(tmp_path)) == ["1", "2", "3"]


def whole_folder(root: Path, place: str, sources: dict[str, str]) -> None:
    """A hand-in of Moodle's with all of exercises/ in one zip, as students are told they may."""
    archive = root / "in" / place / "exercises.zip"
    archive.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive, "w") as file:
        for folder, source in sources.items():
            file.writestr(f"exercises/{folder}/{folder[3:]}.py", source)


def stub(folder: str) -> str:
    return stubs.make(RIGHT[folder])


@pytest.mark.parametrize("has_roster", [True, False])
def test_who_hands_in_the_whole_folder_each_time_has_a_mark_for_each_exercise(grade, tmp_path, has_roster):
    """Each download's own file counts: of 02 the wrong one, and of 03 the right one."""
    lay(tmp_path, "roster.csv", "id,name\nada,Ada Li\nbob,Bob Ray\n")
    entries = ("CS1-02 Softmax-1/Ada Li_11", "CS1-03 Context vectors-2/Ada Li_21")
    first, second = (f"{entry}_assignsubmission_file_" for entry in entries)
    whole_folder(tmp_path, first, {SOFTMAX: WRONG[SOFTMAX], CONTEXT: stub(CONTEXT)})
    whole_folder(tmp_path, second, {SOFTMAX: RIGHT[SOFTMAX], CONTEXT: RIGHT[CONTEXT]})
    for folder, number in ((SOFTMAX, 1), (CONTEXT, 2)):
        place = next(one for one in (first, second) if folder[:2] in one).split("/")[0]
        lay(tmp_path / "in" / place, f"Bob Ray_{number}2_assignsubmission_file_/{folder[3:]}.py", RIGHT[folder])
    done = grade(*["--roster", "roster.csv"] * has_roster)
    assert done.returncode == 0, done.stderr
    assert "3 gradings to do. Files with the same bytes are graded once" in done.stderr
    table = by_student(tmp_path)
    assert len(table) == 2
    ada = table["ada" if has_roster else "11"]
    assert float(ada[SOFTMAX]) < MOST[SOFTMAX] and ada[CONTEXT] == "7"
    assert "6 files found: 4 to grade, 0 refused, 2 left out (2 other attempts)." in done.stderr
    ledger = (tmp_path / "out/ledger.csv").read_text()
    assert "counts: its download is named after the exercise" in ledger


def test_which_of_two_hand_ins_of_a_student_counts(grade, tmp_path):
    lay(tmp_path, "roster.csv", "id,name\na,Ada\nb,Bob\nc,Cy\n")
    right = RIGHT[CONTEXT]
    for name, one, other in (("Ada", stub(CONTEXT), right), ("Bob", right, right), ("Cy", right, WRONG[CONTEXT])):
        lay(tmp_path / "in", f"x/{name}_1{ord(name[0])}_assignsubmission_file_/context_vectors.py", one)
        lay(tmp_path / "in", f"y/{name}_2{ord(name[0])}_assignsubmission_file_/context_vectors.py", other)
    done = grade("--roster", "roster.csv")
    assert done.returncode == 3
    assert {id: row[CONTEXT] for id, row in by_student(tmp_path).items()} == {"a": "7", "b": "7", "c": ""}
    ledger = (tmp_path / "out/ledger.csv").read_text()
    assert "in the other one nothing is written" in ledger and "the two are the same" in ledger
    assert sum(int(line["files"]) for line in rows(tmp_path / "out/ledger.csv")) == 6


def test_two_hand_ins_of_which_nobody_knows_which_counts_wait_for_a_person(grade, said, tmp_path):
    """The row and the student's page say so, and so do the next weeks: it was handed in, so nothing says otherwise."""
    lay(tmp_path, "course.toml", 'roster = "roster.csv"\n')
    lay(tmp_path, "roster.csv", "id,name\na,Ada\nb,Bob\n")
    lay(tmp_path / "in", "x/Bob_4_assignsubmission_file_/context_vectors.py")
    lay(tmp_path / "in", "x/Ada_1_assignsubmission_file_/context_vectors.py")
    lay(tmp_path / "in", "y/Ada_2_assignsubmission_file_/context_vectors.py", WRONG[CONTEXT])
    done, why = grade(), "it was handed in 2 times: leave the one that counts"
    assert done.returncode == 3 and f"03 of Ada (a): {why}" in done.stderr
    assert by_student(tmp_path)["a"]["note"].startswith(f"03: not placed: {why}")
    assert f"03 Context vectors not graded: {why}" in html_text((tmp_path / "out/a/feedback.html").read_text())
    told = said("explain", "a", "03", "--out", tmp_path / "out", cwd=tmp_path)
    assert f"has no mark for {CONTEXT}: {why}" in told.stderr
    lay(tmp_path / "next", "x/Ada_3_assignsubmission_file_/softmax_naive.py", RIGHT[SOFTMAX])
    assert f"03 of Ada (a): {why}" in grade(folder="next").stderr
    lay(tmp_path, "overrides.csv", f"student,exercise,check,points,reason,who\na,{CONTEXT},,5,asked her,me\n")
    assert grade(folder="next").returncode == 0


def test_a_file_that_a_person_should_look_at_is_named_to_the_teacher(grade, said, tmp_path):
    lay(tmp_path / "in", "ada/context_vectors.py", "exec(open('solution').read())\n" + stub(CONTEXT))
    lay(tmp_path / "in", "bob/context_vectors.py")
    assert grade().returncode == 0
    note = "03: The source puts names or code together while it runs, where no guard rail reads them (line 1: exec)."
    assert by_student(tmp_path)["ada"]["note"] == f"{note} A person should look at it."
    page = html_text((tmp_path / "out/class.html").read_text())
    assert note in page and "Late, set by hand, not placed, to look at" in page
    told = said("explain", "ada", "03", "--out", tmp_path / "out", cwd=tmp_path).stdout
    assert f"  note: {note[4:]}" in told and "not started yet: write your code" in told
    assert "exercises/" not in told  # the teacher's own stub is another file


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "id,name\n", "id,name\nada,A\nada,B\n", "\x00\xff"])
def test_a_file_that_is_no_roster_is_refused_in_words(grade, tmp_path, text):
    (tmp_path / "roster.csv").write_bytes(text.encode("latin-1"))
    lay(tmp_path / "in", "ada/context_vectors.py")
    done = grade("--roster", "roster.csv")
    assert done.returncode == 2 and "roster.csv" in done.stderr and not (tmp_path / "out/grades.csv").exists()


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("id,name\nada,Ada\n,Ben Ray\n", "line 3: Ben Ray has no id"),
        ("student,email\nada,a@x.edu\n,b@x.edu\n", 'b@x.edu has no id. Write one into the column "student"'),
        ("username,first_name,last_name,role\nada,A,L,student\n,Ben,Ray,student\n", "Ben Ray has no id"),
        (CANVAS.replace('"Hopper, Grace",12', '"Hopper, Grace",'), "line 4: Hopper, Grace has no id"),
    ],
)
def test_a_row_with_a_name_and_no_id_is_refused(grade, tmp_path, text, who):
    lay(tmp_path, "roster.csv", text)
    lay(tmp_path / "in", "ada/context_vectors.py")
    done = grade("--roster", "roster.csv")
    assert done.returncode == 2 and who in done.stderr and not (tmp_path / "out/grades.csv").exists()


def test_empty_rows_and_other_roles_need_no_id(grade, tmp_path):
    lay(tmp_path, "roster.csv", "id,name,role\nada,Ada,student\n,,\n,Ms Teacher,teacher\n")
    lay(tmp_path / "in", "ada/context_vectors.py")
    assert grade("--roster", "roster.csv").returncode == 0 and list(by_student(tmp_path)) == ["ada"]


OTHER = '"id","login"\n"{}","ghu1"\n"{}","ghu2"\n"{}","ghu3"\n'


def test_two_rosters_that_name_different_people_are_refused(grade, tmp_path):
    lay(tmp_path, "lists/gradebook.csv", CANVAS)
    lay(tmp_path, "lists/roster.csv", OTHER.format("u1", "u2", "u3"))
    lay(tmp_path / "in", "lovelaceada_11_901_context_vectors.py")
    done = grade("--roster", "lists")
    assert done.returncode == 2 and "gradebook.csv and roster.csv name different people" in done.stderr, done.stderr
    assert "Lovelace, Ada" in done.stderr and "ROSTER=file" in done.stderr
    lay(tmp_path, "lists/roster.csv", OTHER.format("S1", "S2", "S3"))  # Canvas knows these as SIS ids
    done = grade("--roster", "lists")
    assert done.returncode == 0 and list(by_student(tmp_path)) == ["11", "12", "13"], done.stderr
    lay(tmp_path, "lists/roster.csv", OTHER.format("S1", "S2", "S2").rpartition('"S2"')[0])  # one has left
    assert grade("--roster", "lists").returncode == 0


@pytest.mark.parametrize("login", ["", "0123456789abcdef0123456789abcdef", "teststudent"])
def test_canvas_own_test_student_is_nobody(grade, tmp_path, login):
    lay(tmp_path, "roster.csv", CANVAS.replace("0123456789012345678901234567890123456789", login))
    lay(tmp_path / "in", "lovelaceada_11_901_context_vectors.py")
    assert "Roster: 3 students" in grade("--roster", "roster.csv").stderr
    lay(tmp_path, "roster.csv", CANVAS.replace('"Student, Test",99,,', '"Student, Test",99,S4,'))  # a person
    assert "Roster: 4 students" in grade("--roster", "roster.csv").stderr


def test_one_entry_is_named_once(grade, tmp_path):
    lay(tmp_path, "roster.csv", "id,name\nada,Ada\n")
    lay(tmp_path / "in", "ada/context_vectors.py")
    for folder in RIGHT:
        lay(tmp_path / "in", f"submission_7009/{folder[3:]}.py", RIGHT[folder])
    done = grade("--roster", "roster.csv")
    assert "needs a person: submission_7009: nobody on the roster is called submission_7009" in done.stderr
    assert "1 name waits in aliases.csv, 1 of them new" in done.stderr


def test_lists_of_nbgrader_and_classroom_50(grade, tmp_path):
    lay(tmp_path, "roster.csv", "username,first_name,last_name,email,section,github_id,role\n"
        "ada,Ada,Lovelace,ada@x.edu,A,1,student\nteach,T,T,t@x.edu,,2,teacher\n")  # fmt: skip
    lay(tmp_path / "in", "hw-ada/exercises/03_context_vectors/context_vectors.py")
    lay(tmp_path / "in", "ada/context_vectors.py")
    shutil.rmtree(tmp_path / "in/hw-ada")
    assert grade("--roster", "roster.csv").returncode == 0
    assert list(by_student(tmp_path)) == ["ada"]


# 2. No silent loss.


def test_nobody_is_dropped_without_a_word(grade, tmp_path):
    for student in ("ada", "bob", "cyd"):
        lay(tmp_path / "in", f"{student}/context_vectors.py")
    lay(tmp_path / "other", "dan/softmax_naive.py", RIGHT[SOFTMAX])
    (tmp_path / "empty").mkdir()
    assert grade().returncode == 0
    before = (tmp_path / "out/grades.csv").read_bytes()
    for folder in ("empty", "other"):
        done = grade(folder=folder)
        assert done.returncode == 2 and "3 students would lose their row: ada, bob, cyd" in done.stderr
        assert (tmp_path / "out/grades.csv").read_bytes() == before
    assert grade("--ex", "02", folder="other").returncode == 0  # a further assignment, which is named
    assert list(by_student(tmp_path)) == ["ada", "bob", "cyd", "dan"]
    shutil.rmtree(tmp_path / "in/bob")
    shutil.copytree(tmp_path / "other/dan", tmp_path / "in/dan")
    assert grade().returncode == 2
    assert grade("--drop").returncode == 0
    assert list(by_student(tmp_path)) == ["ada", "cyd", "dan"]
    assert (tmp_path / "out/left/bob/feedback.html").exists() and not (tmp_path / "out/bob").exists()


def test_a_withdrawn_hand_in_is_told(grade, tmp_path):
    for student in ("ada", "bob"):
        lay(tmp_path / "in", f"{student}/dot_product_scores.py", "x = 1\n")
        lay(tmp_path / "in", f"{student}/softmax_naive.py", RIGHT[SOFTMAX])
    grade()
    (tmp_path / "in/ada/softmax_naive.py").unlink()
    done = grade()
    assert done.returncode == 2 and f"1 hand-in would be lost: ada {SOFTMAX}" in done.stderr
    assert "name its exercise, EX=01 " in done.stderr  # of it nothing would be lost
    assert grade("--drop").returncode == 0 and by_student(tmp_path)["ada"][SOFTMAX] == ""


def test_who_cannot_be_placed_has_a_row(grade, tmp_path):
    lay(tmp_path / "in", "ada/context_vectors.py")
    lay(tmp_path / "in", "bob/mystery.py")
    done = grade()
    assert done.returncode == 3 and done.stderr.startswith("  needs a person: nothing of bob could be placed")
    row = by_student(tmp_path)["bob"]
    assert row[CONTEXT] == "" and row["note"].startswith("not placed: ")
    assert grade(folder="in/bob").returncode in (2, 3)


WRONG_ENDINGS = ("context_vectors.py.pdf", "homework.docx", "report.pdf", "winmail.dat", "work.rar", "homework")


@pytest.mark.parametrize("roster", [False, True])
def test_who_handed_in_a_file_of_another_kind_is_named(grade, tmp_path, roster):
    names = {f"s{number}": name for number, name in enumerate(WRONG_ENDINGS)}
    lay(tmp_path, "roster.csv", "id,name\nada,Ada\n" + "".join(f"{id},{id}\n" for id in names))
    lay(tmp_path / "in", "ada/context_vectors.py")
    for id, name in names.items():
        lay(tmp_path / "in", f"{id}/{name}")
    done = grade(*(("--roster", "roster.csv") if roster else ()))
    assert done.returncode == 3
    table, page = by_student(tmp_path), (tmp_path / "out/class.html").read_text()
    for id, name in names.items():
        sentence = f"nothing of {id} could be placed: {name}: it is neither .py nor .ipynb"
        assert f"needs a person: {sentence}" in done.stderr and sentence in page
        assert table[id][CONTEXT] == "" and table[id]["note"].startswith(f"not placed: {name}: it is neither")


@pytest.mark.parametrize("layout", ["ada/{}", "ada/02_softmax_naive/{}", "lovelaceada_11_901_{}"])
@pytest.mark.parametrize("name", ["softmax_naive.py.pdf", "02.docx", "sofmax_naive.py", "softmax_naive.zip"])
def test_an_exercise_whose_only_file_cannot_be_graded_is_named(grade, tmp_path, layout, name):
    if "sofmax" in name and "02" in layout:
        pytest.skip("its folder says which exercise it is")
    lay(tmp_path / "in", layout.format("context_vectors.py").replace("02_softmax_naive/", "").replace("901", "900"))
    lay(tmp_path / "in", "bob/context_vectors.py" if "/" in layout else "raybob_12_903_context_vectors.py")
    lay(tmp_path / "in", layout.format(name))
    done = grade()
    assert done.returncode == 3 and "needs a person: 02 of " in done.stderr and name in done.stderr
    row, other = sorted(by_student(tmp_path).values(), key=lambda row: row["student"])
    assert row[CONTEXT] == "7" and row["note"].startswith(f"02: not placed: {name}: ") and not other["note"]
    assert f"{name}: " in (tmp_path / "out/class.html").read_text()
    lay(tmp_path / "in", layout.format("softmax_naive.py").replace("901", "902"), RIGHT[SOFTMAX])
    done = grade()
    assert done.returncode == 0 and "needs a person" not in done.stderr, done.stderr


def test_a_comment_that_nobody_would_read_is_named(grade, tmp_path):
    lay(tmp_path / "in", "ada/context_vectors.py")
    lay(tmp_path, "course.toml", "")
    lay(tmp_path, "comments.csv", "student,exercise,comment\nada,03,Well done\nada,02,See me\nada,,Hello\n")
    done = grade()
    assert done.returncode == 3 and f"nobody handed in {SOFTMAX}, so the comment to ada is not shown" in done.stderr
    assert done.stderr.count("is not shown") == 1


@pytest.mark.parametrize("platform", ["Moodle", "Canvas"])
@pytest.mark.parametrize("roster", [False, True])
@pytest.mark.parametrize("downloads", [(f"CS1-{SOFTMAX}-77", f"CS1-{CONTEXT}-78"), ("submissions", "submissions (1)")])
def test_an_assignment_of_which_a_student_has_no_file_to_grade_is_named(grade, tmp_path, platform, roster, downloads):
    lines = ["id,name", *(f"s{number},{name}" for number, name in enumerate(NAMES))]
    lay(tmp_path, "roster.csv", "\n".join(lines) + "\n")

    def lay_downloads(broken: str) -> None:
        """Two assignments of everybody: Ada's second one is `broken`."""
        for week, (download, folder) in enumerate(zip(downloads, (SOFTMAX, CONTEXT), strict=True)):
            with zipfile.ZipFile(tmp_path / f"in/{download}.zip", "w") as archive:
                for number, name in enumerate(NAMES):
                    file = broken if week and not number else f"{folder[3:]}.py"
                    text = RIGHT[folder] if file.endswith(".py") else "Rar!"
                    last_first = "".join(reversed(name.lower().split()))
                    moodles = f"{name}_{100 * week + 100 + number}_assignsubmission_file_/{file}"
                    canvas = f"{last_first}_{number + 1}_{100 * week + 100 + number}_{file}"
                    archive.writestr(moodles if platform == "Moodle" else canvas, text)

    lay_downloads("work.rar")
    options = ("--roster", "roster.csv") if roster else ()
    done = grade(*options)
    assert done.returncode == 3 and "needs a person: 03 of " in done.stderr and "work.rar: it is" in done.stderr
    table = by_student(tmp_path)
    assert len(table) == 6 and sum(bool(row["note"]) for row in table.values()) == 1
    (ada,) = (row for row in table.values() if row["note"].startswith("03: not placed: work.rar: "))
    assert (ada[SOFTMAX], ada[CONTEXT]) == ("6", "")
    assert "nothing of " not in grade(*options, "--ex", "02").stderr  # it waits still, and is not all of hers
    lay_downloads("context_vectors.py")
    done = grade(*options)
    assert done.returncode == 0 and "needs a person" not in done.stderr, done.stderr


@pytest.mark.parametrize("name", ["task 2.py", "Untitled.ipynb", "all.rar", "work.zip"])
def test_code_that_names_no_exercise_is_named_where_one_is_missing(grade, tmp_path, name):
    for student in ("ada", "bob"):
        lay(tmp_path / "in", f"{student}/context_vectors.py")
    lay(tmp_path / "in", "bob/softmax_naive.py", RIGHT[SOFTMAX])
    for file in (f"ada/{name}", f"bob/{name}", "ada/report.pdf", "ada/test_it.py"):
        lay(tmp_path / "in", file)
    done = grade()
    assert done.returncode == 3 and f"needs a person: 02 of ada: {name}: " in done.stderr and "bob:" not in done.stderr
    table = by_student(tmp_path)
    assert table["ada"]["note"].startswith(f"02: not placed: {name}: ") and not table["bob"]["note"]
    lay(tmp_path / "in", "bob/dot_product_scores.py")
    done = grade()
    assert f"needs a person: one hand-in of ada could not be placed: {name}: " in done.stderr
    assert grade("--ex", "03").returncode == 3  # what waits since then


def test_why_an_archive_could_not_be_opened_is_said(grade, tmp_path):
    lay(tmp_path / "in", "ada/context_vectors.py")
    (tmp_path / "in/bob").mkdir()
    with zipfile.ZipFile(tmp_path / "in/bob/work.zip", "w") as archive:
        archive.writestr("2.zip", b"PK\5\6" + bytes(18))
    assert "nothing of bob could be placed: 2.zip: an archive inside an archive" in grade().stderr


def test_exercises_of_which_a_clone_holds_the_stub_alone_are_no_column(grade, tmp_path):
    for student in ("ada", "bob"):
        for folder in (SOFTMAX, CONTEXT):
            stub = stubs.make(RIGHT[folder]).replace("\n", "\r\n" if student == "bob" else "\n")
            stub = stub.replace("Args:", "Arguments:") if student == "bob" else stub  # of an earlier release
            lay(tmp_path / "in", f"{student}/exercises/{folder}/{folder[3:]}.py", stub)
    lay(tmp_path / "in", f"ada/exercises/{CONTEXT}/{CONTEXT[3:]}.py")
    lay(tmp_path / "in", f"cy/{CONTEXT[3:]}.py")
    lay(tmp_path / "in", "cy/helper.py")  # nobody asks for it: the exercise that cy lacks is one that nobody has begun
    done = grade()
    assert done.returncode == 0 and "since nobody has begun them: 02. " in done.stderr
    assert (
        "6 files found: 3 to grade, 1 refused" in done.stderr and "2 of exercises that nobody has begun" in done.stderr
    )
    table = by_student(tmp_path)
    assert SOFTMAX not in table["ada"] and (table["ada"][CONTEXT], table["bob"][CONTEXT]) == ("7", "0")
    assert table["ada"]["max"] == "7"
    (tmp_path / "in/cy/helper.py").unlink()
    lay(tmp_path / "in", f"bob/exercises/{SOFTMAX}/{SOFTMAX[3:]}.py", RIGHT[SOFTMAX])
    assert grade().returncode == 0 and by_student(tmp_path)["ada"][SOFTMAX] == "0"
    lay(tmp_path / "in", f"bob/exercises/{SOFTMAX}/{SOFTMAX[3:]}.py", stubs.make(RIGHT[SOFTMAX]))
    assert grade().returncode == 0 and by_student(tmp_path)["bob"][SOFTMAX] == "0"  # it was begun once


def test_who_handed_in_stubs_alone_has_a_row(grade, tmp_path):
    lay(tmp_path / "in", "ada/context_vectors.py", stubs.make(RIGHT[CONTEXT]))
    lay(tmp_path / "in", "bob/softmax_naive.py", RIGHT[SOFTMAX])
    assert grade().returncode == 0 and set(by_student(tmp_path)) == {"ada", "bob"}
    assert grade("--ex", "03").returncode == 0 and by_student(tmp_path)["ada"][CONTEXT] == "0"


def test_who_has_nothing_in_a_download_of_several_exercises_lacks_all(grade, tmp_path):
    for number, name in enumerate(NAMES):
        for folder in (SOFTMAX, CONTEXT):
            file = f"{folder[3:]}.py" if number else f"{folder[:2]}.pdf.rar"
            lay(tmp_path / "in", f"export/week/{name}_{100 + number}_assignsubmission_file_/{file}", RIGHT[folder])
    done = grade()
    assert done.returncode == 3 and f"nothing of {NAMES[0]} (100) could be placed: 02.pdf.rar" in done.stderr


def test_pictures_and_data_beside_an_answer_are_none(grade, tmp_path):
    for name in ("context_vectors.py", "1.png", "02_softmax_naive/data.csv", "README.md"):
        lay(tmp_path / "in", f"ada/{name}")
    lay(tmp_path / "in", "bob/context_vectors.py")
    assert grade().returncode == 0


@pytest.mark.parametrize("name", ["Schmidt_Anna_10.py", "Schmidt_Anna.py.txt", "softmax.docx", "winmail.dat"])
@pytest.mark.parametrize("beside", ["ada/context_vectors.py", "week/lovelaceada_11_901_context_vectors.py"])
def test_a_loose_file_needs_a_person(grade, tmp_path, name, beside):
    lay(tmp_path / "in", beside)
    lay(tmp_path / "in", "grades.csv", "a,b\n")
    assert grade().returncode == 0
    lay(tmp_path / "in", name)
    done = grade()
    assert done.returncode == 3 and f"needs a person: {name}: whose is it?" in done.stderr
    assert name in (tmp_path / "out/class.html").read_text()


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("softmax_naive.py.txt", ".py.txt"),
        ("02.PY.TXT", ".PY.TXT"),
        ("softmax_naive.py-1.txt", ".py-1.txt"),
        ("softmax_naive.py.py", ".py.py"),
        ("softmax_naive.ipynb.json", ".ipynb.json"),
        ("softmax_naive.ipynb.txt", ".ipynb.txt"),
    ],
)
@pytest.mark.parametrize("layout", ["{}/{}", "zip", "lovelaceada_11_901_{1}"])
def test_a_file_with_an_appended_ending_is_read_as_what_it_is(grade, tmp_path, name, ending, layout):
    text = RIGHT[SOFTMAX]
    if "ipynb" in name:
        cell = {"cell_type": "code", "metadata": {}, "source": text, "outputs": [], "execution_count": None}
        text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    if layout == "zip":
        with zipfile.ZipFile(tmp_path / "in/ada.zip", "w") as file:
            file.writestr(name, text)
    else:
        lay(tmp_path / "in", layout.format("ada", name), text)
    done = grade()
    assert done.returncode == 0, done.stderr
    [row] = by_student(tmp_path).values()
    sentence = f"Its name ends in {ending}, so it was read as .{'ipynb' if 'ipynb' in name else 'py'}."
    assert row[SOFTMAX] == "6" and f"02: {sentence}" in row["note"]
    [line] = rows(tmp_path / "out/ledger.csv")
    assert line["outcome"] == "graded" and line["points"] == "6" and sentence in line["reason"]
    assert name in line["file"] and sentence in (tmp_path / f"out/{row['student']}/feedback.html").read_text()


def test_the_rightly_named_file_counts_before_one_with_an_appended_ending(grade, tmp_path):
    lay(tmp_path / "in", "ada/softmax_naive.py", RIGHT[SOFTMAX])
    lay(tmp_path / "in", "ada/softmax_naive.py.txt", WRONG[SOFTMAX])
    assert grade().returncode == 0
    lines = {line["file"]: line for line in rows(tmp_path / "out/ledger.csv")}
    assert lines["ada/softmax_naive.py"]["points"] == "6"
    assert "the file ada/softmax_naive.py counts" in lines["ada/softmax_naive.py.txt"]["reason"]


def test_the_ledger_has_every_file(grade, tmp_path):
    """The files add up to those found: each has a mark, or a reason with a name where one is known."""
    lay(tmp_path, "roster.csv", "id,name\nada,Ada\nbob,Bob\ncy,Cy\neve,Eve\n")
    (tmp_path / "aliases.csv").write_text("found,student\nguest,-\n")
    for name in ("ada/context_vectors.py", "ada/README.md", "ada/.idea/a.xml", "ada/.idea/b.xml", "ada/notes.png",
                 "ada/context_vectors (1).py", "ada/build/x.py", "bob/report.pdf", "cy/context_vectors.py",
                 "cy/softmax_naive.docx", "guest/context_vectors.py", "mallory/context_vectors.py", "stray.py",
                 "grades.xlsx", *(f"eve/junk{number}.bin" for number in range(30))):  # fmt: skip
        lay(tmp_path / "in", name)
    lay(tmp_path / "in", "eve/context_vectors.py", "def broken(:")
    done = grade("--roster", "roster.csv")
    assert done.returncode == 3
    lines = rows(tmp_path / "out/ledger.csv")
    found = int(done.stderr.partition(" files found")[0].rpartition("\n")[2])
    assert (
        sum(int(line["files"]) for line in lines)
        == found
        == sum(1 for p in (tmp_path / "in").rglob("*") if p.is_file())
    )
    assert all(line["points"] or line["reason"] for line in lines)
    by_file = {line["file"]: line for line in lines}
    assert by_file["ada/context_vectors (1).py"]["points"] == "7" and by_file["eve/context_vectors.py"]["points"] == "0"
    for file, student, outcome in [
        ("ada/context_vectors.py", "ada", "left out"),
        ("ada/.idea", "ada", "left out"),
        ("ada/build", "ada", "left out"),
        ("ada/README.md", "ada", "left out"),
        ("bob/report.pdf", "bob", "left out"),
        ("grades.xlsx", "", "left out"),
        ("stray.py", "", "needs a person"),
        ("cy/softmax_naive.docx", "cy", "left out"),
        ("mallory", "mallory", "needs a person"),
    ]:
        assert (by_file[file]["student"], by_file[file]["outcome"]) == (student, outcome), by_file[file]
    guest = next(line for line in lines if line["file"].endswith("guest/context_vectors.py"))
    assert guest["reason"] == "of people who are not in the class"
    assert sum(int(line["files"]) for line in lines if line["student"] == "eve") == 31
    waiting = [(line["student"], line["exercise"]) for line in lines if line["outcome"] == "needs a person"]
    assert lines[: len(waiting)] == [line for line in lines if line["outcome"] == "needs a person"]
    assert ("bob", "") in waiting and ("cy", SOFTMAX) in waiting
    closing = done.stderr.partition("gradings in")[2]
    assert "4 entries without a mark until a person decides" in closing and "ledger.csv" in closing
    for words in ("nothing of Bob (bob)", "02 of Cy (cy)", "stray.py: ", "mallory"):
        assert words in closing, words
    page = (tmp_path / "out/class.html").read_text()
    assert "Ada (ada): ada/build: in venv/, tests/, build/ and the like" in page
    assert (tmp_path / "out/ledger.csv").stat().st_mode & 0o777 == 0o600


def test_what_could_not_be_placed_waits_over_the_weeks(grade, tmp_path):
    """Week 2's download holds nothing of week 1. Ada's file of week 1 is still without a mark."""
    lay(tmp_path / "in/1", "ada/homework.docx")
    lay(tmp_path / "in/1", "cy/context_vectors.docx")
    for name in ("bob", "cy"):
        lay(tmp_path / "in/1", f"{name}/softmax_naive.py", RIGHT[SOFTMAX])
    assert grade(folder="in/1").returncode == 3
    for name in ("ada", "bob", "cy"):
        lay(tmp_path / "in/2", f"{name}/03_context_vectors/x.py" if name == "cy" else f"{name}/04.py", "x = 1\n")
    lay(tmp_path / "in/2", "cy/04.py", "x = 1\n")
    (tmp_path / "in/2/cy/03_context_vectors/x.py").unlink()
    done = grade(folder="in/2")
    assert done.returncode == 3 and "nothing of ada could be placed: homework.docx" in done.stderr
    assert "03 of cy: context_vectors.docx" in done.stderr
    assert by_student(tmp_path)["ada"]["note"].startswith("not placed: homework.docx")
    old = [line for line in rows(tmp_path / "out/ledger.csv") if line["reason"] == "from an earlier download"]
    assert [(line["student"], line["exercise"], line["points"]) for line in old] == [
        ("bob", SOFTMAX, "6"), ("cy", SOFTMAX, "6"),
    ]  # fmt: skip
    lay(tmp_path / "in/3", "ada/softmax_naive.py", RIGHT[SOFTMAX])  # it came by mail
    lay(tmp_path, "course.toml", "")
    lay(tmp_path, "overrides.csv", f"student,exercise,check,points,reason,who\ncy,{CONTEXT},,5,read by hand,me\n")
    done = grade("--ex", "02", folder="in/3")
    assert done.returncode == 2 and "bob 02" in done.stderr
    for name in ("bob", "cy"):
        lay(tmp_path / "in/3", f"{name}/softmax_naive.py", RIGHT[SOFTMAX])
    done = grade("--ex", "02", folder="in/3")
    assert done.returncode == 0, done.stderr


def test_a_student_reads_why_a_file_was_not_graded(grade, said, tmp_path):
    lay(tmp_path / "in", "ada/homework.docx")
    lay(tmp_path / "in", "bob/softmax_naive.rar")
    lay(tmp_path / "in", "bob/context_vectors.py")
    lay(tmp_path / "in", "cy/softmax_naive.py", RIGHT[SOFTMAX])
    grade()
    said("handback", "folder", "--release", "--out", tmp_path / "out", cwd=tmp_path)
    for folder in ("out", "out/handback/folder"):
        ada, bob = (html_text((tmp_path / folder / f"{name}/feedback.html").read_text()) for name in ("ada", "bob"))
        assert "A file of yours could not be graded: homework.docx: it is neither" in ada
        assert "02 Softmax not graded: softmax_naive.rar: it is neither" in bob and "nothing handed in" not in bob
    for student, file in (("ada", "homework.docx"), ("bob", "softmax_naive.rar")):
        told = said("explain", student, "02", "--out", tmp_path / "out", cwd=tmp_path)
        assert told.returncode == 2 and f"has no mark for {SOFTMAX}: {file}: it is neither" in told.stderr


def test_points_for_a_file_that_could_not_be_placed_settle_it(grade, tmp_path):
    lay(tmp_path / "in", "ada/homework.docx")
    lay(tmp_path / "in", "bob/context_vectors.py")
    lay(tmp_path / "in", "bob/softmax_naive.rar")
    lay(tmp_path, "course.toml", "")
    assert grade().returncode == 3
    given = f"ada,{CONTEXT},,5,read by hand,me\nbob,{SOFTMAX},,4,unpacked,me\n"
    lay(tmp_path, "overrides.csv", f"student,exercise,check,points,reason,who\n{given}")
    done = grade()
    assert done.returncode == 0 and "needs a person" not in done.stderr, done.stderr
    table = by_student(tmp_path)
    assert (table["ada"][CONTEXT], table["bob"][SOFTMAX], table["bob"][CONTEXT]) == ("5", "4", "7")
    assert "not placed" not in table["ada"]["note"] and "homework.docx" in (tmp_path / "out/ledger.csv").read_text()
    lay(tmp_path / "in", "bob/dot_product_scores.py", "x = 1\n")  # what ada handed in could be this one
    done = grade()
    assert done.returncode == 3 and "nothing of ada could be placed: homework.docx" in done.stderr
    given += "ada,01,,0,not handed in,me\n"
    lay(tmp_path, "overrides.csv", f"student,exercise,check,points,reason,who\n{given}")
    assert grade().returncode == 0


def test_points_for_one_exercise_settle_no_file_of_another_one(grade, tmp_path):
    for folder in (SOFTMAX, CONTEXT):
        lay(tmp_path / "in", f"bob/{folder[3:]}.py", RIGHT[folder])
    lay(tmp_path / "in", "bob/dot_product_scores.py", "x = 1\n")
    lay(tmp_path / "in", "ada/softmax_naive.py", RIGHT[SOFTMAX])
    lay(tmp_path / "in", "ada/task.py")
    lay(tmp_path, "course.toml", "")
    lay(tmp_path, "overrides.csv", "student,exercise,check,points,reason,who\nada,01,,5,oral,me\n")
    done = grade()
    assert done.returncode == 3 and "one hand-in of ada could not be placed: task.py" in done.stderr
    lay(tmp_path / "next", "ada/04.py", "x = 1\n")
    lay(tmp_path / "next", "bob/04.py", "x = 1\n")
    assert grade("--ex", "04", folder="next").returncode == 3  # it waits over the weeks
    lay(tmp_path, "overrides.csv", "student,exercise,check,points,reason,who\nada,01,,5,oral,me\nada,03,,5,it,me\n")
    assert grade().returncode == 0


def test_a_name_of_an_earlier_download_waits_until_it_is_settled(grade, tmp_path):
    lay(tmp_path, "roster.csv", "id,name\nada,Ada\nbob,Bob\n")
    for name in (
        "1/ada/softmax_naive.py",
        "1/mallory/softmax_naive.py",
        "2/bob/softmax_naive.py",
        "2/ada/softmax_naive.py",
    ):
        lay(tmp_path / "in", name, RIGHT[SOFTMAX])
    assert grade("--roster", "roster.csv", folder="in/1").returncode == 3
    done = grade("--roster", "roster.csv", folder="in/2")
    assert (
        done.returncode == 3
        and "mallory: it was in an earlier download" in done.stderr.partition("until a person decides")[2]
    )
    [first, *_] = rows(tmp_path / "out/ledger.csv")
    assert (first["file"], first["files"], first["outcome"]) == ("mallory", "0", "needs a person")
    aliases = (tmp_path / "aliases.csv").read_text()
    (tmp_path / "aliases.csv").write_text(aliases.replace("mallory,mallory,,", "mallory,mallory,-,"))
    assert grade("--roster", "roster.csv", folder="in/2").returncode == 0


def test_an_archive_with_the_class_in_it_is_to_be_named_alone(grade, tmp_path):
    lay(tmp_path, "roster.csv", "id,name\nada,Ada\nbob,Bob\n")
    for name in ("ada", "bob"):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            archive.writestr("context_vectors.py", RIGHT[CONTEXT])
    with zipfile.ZipFile(tmp_path / "in/all.zip", "w") as archive:
        for name in ("ada", "bob"):
            archive.write(tmp_path / f"{name}.zip", f"{name}.zip")
    done = grade("--roster", "roster.csv")
    assert done.returncode == 3 and "with the whole class in it, name it alone as SUBMISSIONS" in done.stderr
    assert grade("--roster", "roster.csv", folder="in/all.zip").returncode in (0, 3)  # its name waits in aliases.csv
    assert [by_student(tmp_path)[id][CONTEXT] for id in ("ada", "bob")] == ["7", "7"]


def test_a_name_that_a_better_roster_knows_waits_no_longer(grade, tmp_path):
    lay(tmp_path, "roster.csv", "id,name\n1,Bob Ray\n")
    lay(tmp_path / "in", "ada@x.edu/context_vectors.py")
    assert grade("--roster", "roster.csv").returncode == 3 and "ada@x.edu" in (tmp_path / "aliases.csv").read_text()
    lay(tmp_path, "roster.csv", "id,name,email\n1,Bob Ray,\n2,Ada,ada@x.edu\n")
    done = grade("--roster", "roster.csv")
    assert done.returncode == 0 and "earlier download" not in done.stderr, done.stderr
    assert by_student(tmp_path)["2"][CONTEXT] == "7"


def test_who_withdrew_a_file_that_could_not_be_placed_may_go(grade, tmp_path):
    lay(tmp_path / "in/1", "ada/homework.docx")
    lay(tmp_path / "in/1", "bob/softmax_naive.py", RIGHT[SOFTMAX])
    lay(tmp_path / "in/2", "bob/softmax_naive.py", RIGHT[SOFTMAX])
    assert grade(folder="in/1").returncode == 3
    assert grade(folder="in/2").returncode == 2  # her row would go
    assert grade("--drop", folder="in/2").returncode == 0
    lay(tmp_path / "in/1", "bob/context_vectors.docx")
    assert grade("--drop", folder="in/1").returncode == 3
    lay(tmp_path / "in/2", "ada/softmax_naive.py", RIGHT[SOFTMAX])
    done = grade(folder="in/2")
    assert done.returncode == 3 and "03 of bob: context_vectors.docx" in done.stderr
    assert grade("--drop", folder="in/2").returncode == 0
    assert grade(folder="in/2").returncode == 0


def part_of(root: Path, section: str) -> str:
    """What class.html says in a section of the chosen part of the term; "" where it has none."""
    page = (root / "out/class.html").read_text().partition(f'<h2 id="{section}">')[2].partition("<h2")[0]
    part, has_part, _ = page.partition("<h3>The whole term</h3>")
    return html_text(part) if has_part else ""


def html_text(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


NINE = [f"s{number}" for number in range(9)]


def lay_week(root: Path, folder: str, wrong: int, students=tuple(NINE)) -> None:
    """A download of one exercise, of which the first students handed in something wrong."""
    for number, student in enumerate(students):
        slug = folder.partition("_")[2]
        lay(root, f"{student}/{folder}/{slug}.py", (WRONG if number < wrong else RIGHT)[folder])


def test_the_page_shows_what_is_new_beside_the_whole_term(grade, tmp_path):
    lay_week(tmp_path / "in/1", SOFTMAX, 6)
    assert grade(folder="in/1").returncode == 0
    assert part_of(tmp_path, "teach") == ""  # the first week is the whole term
    lay_week(tmp_path / "in/2", CONTEXT, 3)
    lay(tmp_path / "in/2", "s0/softmax_naive.py", RIGHT[SOFTMAX])  # one tries the old one again
    for student in NINE[1:]:
        lay(
            tmp_path / "in/2",
            f"{student}/softmax_naive.py",
            (tmp_path / f"in/1/{student}/{SOFTMAX}/softmax_naive.py").read_text(),
        )
    topics = [mistakes.misconceptions_of_mistakes(folder) for folder in (SOFTMAX, CONTEXT)]
    old, new = (one[mistakes.mistakes(folder)[0].name].title for one, folder in zip(topics, (SOFTMAX, CONTEXT)))
    for _ in range(2):  # the same command again shows the same
        assert grade(folder="in/2").returncode == 0
        teach, checks = part_of(tmp_path, "teach"), part_of(tmp_path, "checks")
        assert teach.startswith(
            "What to teach again This time: new since the run before 9 hand-ins of 03 Context vectors."
        )
        assert "Left out, because fewer than 5 hand-ins allow no conclusion: 02 (1 hand-in)." in teach
        assert f"3 students: {new}" in teach and old not in teach
        assert "3 (33 %)" in checks and " 02 " not in checks
        helped = part_of(tmp_path, "help")
        assert all(student in helped for student in NINE[:3]) and NINE[3] not in helped
        whole = html_text((tmp_path / "out/class.html").read_text())
        assert f"5 students: {old}" in whole
    assert grade("--ex", "02", folder="in/2").returncode == 0
    teach = part_of(tmp_path, "teach")
    assert "This time: exercise 02 9 hand-ins of 02" in teach and f"5 students: {old}" in teach and new not in teach


def test_the_page_shows_what_came_since_a_day(grade, tmp_path):
    lay(tmp_path, "course.toml", 'timezone = "Europe/Berlin"\n')
    lay_week(tmp_path / "in", SOFTMAX, 6)
    times = "".join(f"{student},02,2026-11-1{5 if number < 4 else 6}T00:30:00\n" for number, student in enumerate(NINE))
    lay(tmp_path, "handed_in.csv", f"student,exercise,time\n{times}")
    assert grade("--since", "2026-11-16").returncode == 0
    teach = part_of(tmp_path, "teach")
    assert "This time: handed in since 2026-11-16 5 hand-ins of 02" in teach and "2 students: " in teach
    assert "nothing" not in teach and grade("--since", "16.11.2026").returncode == 2
    assert grade("--since", "2026-11-17").returncode == 0
    assert part_of(tmp_path, "teach").endswith("since 2026-11-17 Nothing was handed in.")
    assert all("This time" not in part_of(tmp_path, section) for section in ("help", "checks"))


def test_who_handed_in_a_file_that_could_not_be_placed_has_begun(grade, tmp_path):
    lay_week(tmp_path / "in", SOFTMAX, 6)
    lay_week(tmp_path / "in", CONTEXT, 6)
    unreadable, missing = (tmp_path / f"in/{student}/{CONTEXT}/context_vectors.py" for student in NINE[7:])
    unreadable.rename(unreadable.with_suffix(".rar"))
    missing.unlink()
    assert grade().returncode == 3
    helped = html_text((tmp_path / "out/class.html").read_text().partition('<h2 id="help">')[2].partition("<h2")[0])
    assert re.search(f"{NINE[8]} : [^:]*not begun, though half of the class has: 03", helped)
    assert helped.count("not begun") == 1  # who handed in an archive that nobody can open is not idle


def test_progress_is_of_the_same_hand_ins_under_the_same_checks(grade, here, tmp_path, monkeypatch):
    lay_week(tmp_path / "in", SOFTMAX, 6)
    assert grade().returncode == 0
    before = [float(row[SOFTMAX]) for row in by_student(tmp_path).values()]
    assert 'id="progress"' not in (tmp_path / "out/class.html").read_text()
    for student in NINE[:3]:
        lay(tmp_path / "in", f"{student}/{SOFTMAX}/softmax_naive.py", RIGHT[SOFTMAX])
    lay_week(tmp_path / "in", CONTEXT, 9)  # new, all of it wrong: no part of any progress
    for _ in range(2):
        assert grade().returncode == 0
        after = [float(row[SOFTMAX]) for row in by_student(tmp_path).values()]
        shares = [f"{100 * sum(points) / 9 / MOST[SOFTMAX]:.1f} %" for points in (before, after)]
        page = html_text((tmp_path / "out/class.html").read_text().partition('id="progress"')[2])
        assert f"{shares[0]} → {shares[1]} of the points (9 hand-ins)" in page, page[:400]
        assert page.count("→") == 1
    change_check(here, monkeypatch, SOFTMAX)
    assert grade().returncode == 0
    page = html_text((tmp_path / "out/class.html").read_text().partition('id="progress"')[2])
    assert page.count("→") == 1


def test_terms_are_compared_without_names(here, said, tmp_path, monkeypatch):
    """Of nine, six made a mistake in one term and two in the next; a third term has too few students."""
    for number, (wrong, many) in enumerate([(6, 9), (2, 9), (1, 3)]):
        lay_week(tmp_path / f"in/{number}", SOFTMAX, wrong, NINE[:many])
    lay_week(tmp_path / "in/0", CONTEXT, 0)
    for number in range(3):
        assert said("grade", tmp_path / f"in/{number}", "--out", f"out{number}", cwd=tmp_path).returncode == 0
    done = said("compare", "out0", "out1", "out2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not any(re.search(rf"\b{student}\b", done.stdout) for student in NINE)
    lines = {line[:50].strip(): line[50:].split("  ") for line in done.stdout.splitlines()}
    cells = {words: [cell.strip() for cell in values if cell.strip()] for words, values in lines.items()}
    assert cells["handed in"] == ["9", "9", "3"] and cells["passed all checks"] == ["33 %", "78 %", "–"]
    points = [[float(row[SOFTMAX]) for row in rows(tmp_path / f"out{number}/grades.csv")] for number in range(2)]
    assert cells["mean, of 6 points"] == [f"{statistics.fmean(one):.2f}" for one in points] + ["–"]
    assert cells["standard deviation"] == [f"{statistics.stdev(one):.2f}" for one in points] + ["–"]
    mistake = mistakes.mistakes(SOFTMAX)[0]
    title = mistakes.misconceptions_of_mistakes(SOFTMAX)[mistake.name].title
    assert f"{title} 67 % 22 % –" in " ".join(done.stdout.split())
    assert "context" not in done.stdout.lower() and "changed in between" not in done.stdout
    [one] = json.loads(said("compare", "out0", "out1", "--format", "json", cwd=tmp_path).stdout)["exercises"]
    failed = {check["id"]: check["counts"] for check in one["checks"]}
    for check in mistakes.failed_checks(SOFTMAX)[mistake.name].failed:
        assert [seen for seen, _ in failed[check]] == [6, 2], check
    change_check(here, monkeypatch, SOFTMAX)
    assert said("grade", tmp_path / "in/1", "--out", "out1", cwd=tmp_path).returncode == 0
    assert "changed in between" in said("compare", "out0", "out1", cwd=tmp_path).stdout
    for wrong_use, words in ((["out0"], "at least two terms"), (["out0", "nowhere"], "nowhere holds no results")):
        done = said("compare", *wrong_use, cwd=tmp_path)
        assert done.returncode == 2 and words in done.stderr
    assert not (tmp_path / "nowhere").exists()


def test_git_takes_in_nothing_of_a_course(grade, tmp_path):
    shutil.copy(paths.ROOT / ".gitignore", tmp_path)
    lay(tmp_path, "course.toml", 'roster = "roster.csv"\n')
    lay(tmp_path, "overrides.csv", "student,exercise,points\nada,03,7\n")
    lay(tmp_path, "comments/ada.md", "Well done.\n")
    lay(tmp_path, "comments.csv", "student,exercise,comment\n")
    lay(tmp_path, "handed_in.csv", "student,exercise,time\n")
    lay(tmp_path, "roster.csv", "id,name\nada,Ada\n")
    lay(tmp_path / "in", "ada/context_vectors.py")
    lay(tmp_path / "in", "mallory/context_vectors.py")
    assert grade("--roster", "roster.csv").returncode == 3 and (tmp_path / "aliases.csv").exists()
    (tmp_path / "in").rename(tmp_path / "downloads")
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    added = subprocess.run(["git", "ls-files"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert added == ".gitignore\n"
    (tmp_path / "out/.gitignore").write_text("!grades.csv\n")  # the instructor's own
    (tmp_path / "downloads").rename(tmp_path / "in")
    grade("--roster", "roster.csv")
    assert (tmp_path / "out/.gitignore").read_text() == "!grades.csv\n"


def test_nobody_found_is_not_done(grade, tmp_path):
    done = grade()
    assert done.returncode == 3 and done.stderr.startswith("No student was found")


def test_changes_are_told_with_their_reason_and_ten_versions_are_kept(grade, here, tmp_path, monkeypatch):
    lay(tmp_path / "in", "ada/context_vectors.py", WRONG[CONTEXT])
    lay(tmp_path / "in", "bob/context_vectors.py")
    assert "changed since" not in grade().stderr
    lay(tmp_path / "in", "ada/context_vectors.py")
    done = grade()
    assert f"ada {CONTEXT}:" in done.stderr and "→ 7, new hand-in" in done.stderr
    own = ledger.version_of_exercise
    monkeypatch.setattr(ledger, "version_of_exercise", lambda folder: own(folder) + " fixed" * (folder == CONTEXT))
    here.changed = lambda result: replaced_first(result)
    assert "check changed" in grade().stderr
    found = rows(tmp_path / "out/changes.csv")
    assert [(row["student"], row["why"]) for row in found] == [
        ("ada", "new hand-in"), ("ada", "check changed"), ("bob", "check changed"),
    ]  # fmt: skip
    assert len(list((tmp_path / "out/history").glob("grades-*.csv"))) == 2


def change_check(here, monkeypatch, folder: str) -> None:
    """From now on the first check of this exercise refuses what it passed."""
    own = ledger.version_of_exercise
    monkeypatch.setattr(ledger, "version_of_exercise", lambda name: own(name) + " changed" * (name == folder))
    here.changed = lambda result: replaced_first(result) if result.exercise == folder else result


@pytest.mark.parametrize("named", [(), ("--ex", "03")])
def test_after_a_check_changed_last_weeks_hand_ins_are_graded_again(grade, here, tmp_path, monkeypatch, named):
    lay(tmp_path / "week1", "ada/softmax_naive.py", RIGHT[SOFTMAX])
    (tmp_path / "week1/bob").mkdir()
    (tmp_path / "week1/bob/softmax_naive.py").write_bytes(b"\xff")  # never readable
    for student in ("ada", "bob"):
        lay(tmp_path / "week2", f"{student}/context_vectors.py")
    assert grade(folder="week1").returncode == 0
    shutil.rmtree(tmp_path / "week1")
    assert grade(*named, folder="week2").returncode == 0
    change_check(here, monkeypatch, SOFTMAX)
    del here.seen[:]
    done = grade(*named, folder="week2")
    assert done.returncode == 0 and here.seen == [SOFTMAX]
    assert f"The checks changed since these were graded: {SOFTMAX} (1): graded again" in done.stderr
    assert by_student(tmp_path)["ada"][SOFTMAX] == "5.75"
    changed = [(row["student"], row["exercise"], row["to"], row["why"]) for row in rows(tmp_path / "out/changes.csv")]
    assert changed[-1] == ("ada", SOFTMAX, "5.75", "check changed")
    before = (tmp_path / "out/grades.csv").read_bytes()
    assert "checks changed" not in grade(*named, folder="week2").stderr and here.seen == [SOFTMAX]
    assert (tmp_path / "out/grades.csv").read_bytes() == before


def test_a_hand_in_whose_text_is_gone_has_no_points_of_earlier_checks(grade, here, tmp_path, monkeypatch):
    lay(tmp_path / "week1", "ada/softmax_naive.py", RIGHT[SOFTMAX])
    lay(tmp_path / "week2", "ada/context_vectors.py")
    grade(folder="week1")
    grade(folder="week2")
    with contextlib.closing(sqlite3.connect(tmp_path / "out/.grading.sqlite", isolation_level=None)) as store:
        store.execute("delete from kept")  # as in results of an earlier release
    (tmp_path / "week1").rename(tmp_path / "elsewhere")
    change_check(here, monkeypatch, SOFTMAX)
    done = grade(folder="week2")
    assert done.returncode == 3 and f"{SOFTMAX} (1): no grade: its checks have changed" in done.stderr
    row = by_student(tmp_path)["ada"]
    assert (row[SOFTMAX], row[CONTEXT], row["total"]) == ("", "7", "") and row["note"].startswith("02: not graded: its")
    assert "its checks have changed, and its file is gone" in (tmp_path / "out/class.html").read_text()
    assert grade(folder="week2").returncode == 3
    (tmp_path / "elsewhere").rename(tmp_path / "week1")
    assert grade(folder="week2").returncode == 0 and by_student(tmp_path)["ada"][SOFTMAX] == "5.75"
    whys = [
        (row["from"], row["to"], row["why"]) for row in rows(tmp_path / "out/changes.csv") if row["from"] != row["to"]
    ]
    assert whys[1:] == [("6", "", "waits to be graded again"), ("", "5.75", "check changed")]


def test_an_unreadable_file_in_the_next_download_is_the_same_hand_in(grade, tmp_path):
    lay(tmp_path, "course.toml", "")
    lay(tmp_path, "overrides.csv", "student,exercise,check,points,reason,who\n11,03,,3,oral,me\n")
    for week in (1, 2, 3):
        shutil.rmtree(tmp_path / "in")
        (tmp_path / "in").mkdir()
        with zipfile.ZipFile(tmp_path / f"in/week{week}.zip", "w") as archive:
            archive.writestr("lovelaceada_11_901_context_vectors.py", b"")
            archive.writestr("hoppergrace_12_902_context_vectors.py", b"\xff")
        done = grade()
        assert done.returncode == 0, done.stderr
    with contextlib.closing(sqlite3.connect(tmp_path / "out/.grading.sqlite")) as store:
        assert store.execute("select count(*) from attempts").fetchone() == (2,)
    assert "stuck at" not in (tmp_path / "out/class.html").read_text()
    read = (tmp_path / "out/11/result.json").read_text()
    assert "context_vectors.py is empty." in read and "week3" not in read and "901" not in read
    with zipfile.ZipFile(tmp_path / "in/week3.zip", "w") as archive:
        archive.writestr("lovelaceada_11_901_context_vectors.py", b"\xfe")
        archive.writestr("hoppergrace_12_902_context_vectors.py", b"\xff")
    done = grade()
    assert done.returncode == 3 and "11 03_context_vectors: the hand-in changed" in done.stderr


def replaced_first(result):
    """The result with the first check failed."""
    from dataclasses import replace

    first, *others = result.checks
    return replace(result, checks=(replace(first, points=0.0, outcome="failed"), *others))


def test_a_run_that_was_stopped_says_how_it_goes_on(grade, here, said, tmp_path, monkeypatch):
    def stop(rows, record):
        raise KeyboardInterrupt

    lay(tmp_path / "in", "ada/context_vectors.py")
    monkeypatch.setattr(here, "run", stop)
    done = grade()
    assert done.returncode == 130 and "type the same command, and it goes on" in done.stderr
    told = said("explain", "ada", "03", "--out", tmp_path / "out", cwd=tmp_path)
    assert told.returncode == 2 and "03_context_vectors: not graded yet. Grade again" in told.stderr


@pytest.mark.parametrize("full_after", [0, 8])
def test_a_full_disk_is_said_in_words(grade, tmp_path, monkeypatch, full_after):
    for number in range(30):
        lay(tmp_path / "in", f"s{number}/context_vectors.py", f"{RIGHT[CONTEXT]}\n# {number}\n")
    (tmp_path / "out").mkdir()
    opened = store.open_database

    def small(path, schema):
        file = opened(path, schema)
        pages = file.execute("pragma page_count").fetchone()[0] + full_after
        file.execute(f"pragma max_page_count = {pages}")
        return file

    monkeypatch.setattr(store, "open_database", small)
    done = grade()
    assert done.returncode == 3 and "The grader could not do its work: " in done.stderr
    assert "the disk is full. What it holds is kept: make room, and type the same command" in done.stderr


def test_two_that_open_the_results_in_turn_wait_for_each_other(tmp_path):
    """With SQLite's own waiting, two that began at the same time kept each other out until both gave up."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom grader.classroom import store\n"
        "for _ in range(100):\n"
        "    file = store.open_database(Path(sys.argv[1]), 'create table if not exists numbers (number);')\n"
        "    file.execute('insert into numbers values (1)')\n"
        "    file.close()\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "results.sqlite")]
    both = [subprocess.Popen(command, cwd=paths.ROOT, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[1] for process in both] == ["", ""]
    with contextlib.closing(sqlite3.connect(tmp_path / "results.sqlite")) as file:
        assert file.execute("select count(*) from numbers").fetchone() == (200,)


def test_ten_versions_are_kept(tmp_path):
    for number in range(14):
        (tmp_path / "grades.csv").write_text(str(number))
        os.utime(tmp_path / "grades.csv", (number, number))
        private.keep_version(tmp_path / "grades.csv")
    kept = sorted((tmp_path / "history").iterdir())
    assert [path.read_text() for path in kept] == [str(number) for number in range(4, 14)]


def test_a_comment_in_the_grader_judges_nothing_anew():
    source = b'"""Doc."""\n\nx = "# no comment"  # a comment\n\n\n# another\ny = 1\n'
    assert ledger.strip_comments(source) == ledger.strip_comments(b'"""Doc."""\nx = "# no comment"\ny = 1\n')
    nested = rb"""x = 'it\'s # "'{}
y = '''\'

# kept "#"
'''{}
z = "\\"{}"""
    commented = nested.replace(b"{}", b"""  # a 'b' "c""")
    assert ledger.strip_comments(commented) == nested.replace(b"{}", b"")
    for other in (b'"""Other."""\nx = "# no comment"\ny = 1\n', b'"""Doc."""\nx = "# no"\ny = 1\n', b"not ( python"):
        assert ledger.strip_comments(other) != ledger.strip_comments(source)


# 3. Rules of the course.

DAY = datetime(2026, 11, 20, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("after", "marked", "units", "left"),
    [
        (timedelta(0), False, 0, 1.0),
        (timedelta(minutes=10), False, 0, 1.0),  # within the grace
        (timedelta(minutes=11), False, 1, 0.9),
        (timedelta(days=1), False, 1, 0.9),
        (timedelta(days=1, seconds=1), False, 2, 0.8),
        (timedelta(days=9), False, 9, 0.7),  # the cap
        (timedelta(days=11), False, 11, 0.0),  # after the cut-off
        (None, False, 0, 1.0),
        (None, True, 1, 0.9),
    ],
)
def test_lateness(after, marked, units, left):
    rule = LateRule("day", 10, 30, grace_s=600)
    late = lateness(rule, None if after is None else DAY + after, marked, DAY, DAY + timedelta(days=10))
    assert (late.units, share(rule, late)) == (units, pytest.approx(left))


def test_totals_weigh_and_drop():
    folders, most = ["a", "b", "c"], [10.0, 5.0, 5.0]
    rule = TotalRule({"a": 2.0}, 1)
    assert marking.maximum(folders, most, rule) == 25
    assert marking.total(folders, [5.0, 5.0, None], most, rule) == 15
    assert marking.total(folders, [0.0, 5.0, 4.0], most, rule) == 22.5  # 9 of the 10 that are left, of 25
    assert marking.total(folders, [None, None, None], most, rule) == 0
    assert marking.total([], [], [], rule) == marking.maximum([], [], rule) == 0


@pytest.mark.parametrize("rule", [TotalRule({}, 1), TotalRule({"b": 3.0}, 1), TotalRule({"a": 0.5}, 2)])
def test_who_lacks_as_many_exercises_as_are_dropped_has_all_points(rule):
    folders, most = ["a", "b", "c"], [5.0, 6.0, 7.0]
    perfect = marking.maximum(folders, most, rule)
    assert marking.total(folders, list(most), most, rule) == perfect
    for missing in range(3):
        points = [None if i == missing else earned for i, earned in enumerate(most)]
        assert marking.total(folders, points, most, rule) == perfect


def test_the_same_share_of_every_exercise_is_the_same_share_of_the_total():
    folders, most, rule = ["a", "b", "c"], [5.0, 6.0, 7.0], TotalRule({"b": 2.0}, 1)
    half = [points / 2 for points in most]
    assert marking.total(folders, half, most, rule) == marking.maximum(folders, most, rule) / 2


def test_which_attempt_counts():
    class Scored:
        def __init__(self, points: float) -> None:
            self.points = points

    rule = LateRule("day", 50)
    first, second = Attempt("1", Scored(6)), Attempt("2", Scored(8), Lateness(1))
    ended = Attempt("3", Scored(10), Lateness(9, after_end=True))
    assert counting_attempt([first, second], "latest", rule) is second
    assert counting_attempt([first, second], "best", rule) is first  # 8 points, one day late, are 4
    assert counting_attempt([first, second, ended], "latest", rule) is second
    assert counting_attempt([first, second, ended], "best", rule) is first
    assert counting_attempt([ended], "latest", rule) is ended and counting_attempt([], "best", rule) is None


def test_the_file_that_make_course_writes_changes_nothing_and_stays(said, tmp_path):
    assert "in this folder" in said("course", cwd=tmp_path).stdout
    assert "RULES=" in said("course", "--output", tmp_path / "other.toml", cwd=tmp_path).stdout
    course = course_rules.read_rules(tmp_path / "course.toml")
    assert course == Course(tmp_path / "course.toml", feedback="full")
    assert said("course", cwd=tmp_path).returncode == 2
    assert said("course", "--output", tmp_path / "2027/autumn/course.toml", cwd=tmp_path).returncode == 0
    assert (tmp_path / "2027/autumn/course.toml").exists()
    all_on = "\n".join(
        line.removeprefix("# ") if '" =' in line else line for line in course_rules.template().splitlines()
    )
    lay(tmp_path, "all.toml", all_on)
    course = course_rules.read_rules(tmp_path / "all.toml")
    assert (
        len(course.deadlines) == len(catalog.exercises()) and course.extensions and course.columns and course.sections
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("percent = 3", "the file knows no percent"),
        ("[late]\nper = 3", "per must be one of: day, hour"),
        ("[late]\npercent = 101", "at most 100"),
        ('[deadlines]\n"99" = 2026-01-01', "no exercise 99"),
        ('[deadlines]\n"03" = "soon"', "must be a time"),
        ("drop_lowest = 1.5", "whole number"),
        ('timezone = "Nowhere"', "knows no Nowhere"),
        ("late = 3", "late must be a table"),
        ("= 1", "line 1, is no TOML: = 1"),
        ("[late]\npercent = 10%", 'line 2, is no TOML: percent = 10%. Write such as: percent = 10, roster = "'),
        ('[deadlines]\n"03" = 2026-11-20 23:59', "line 2: there is no time 2026-11-20 23:59. Write 2026-11-20"),
        ('[deadlines]\n"03" = 20.11.2026', "line 2: there is no time 20.11.2026. Write 2026-11-20"),
        ('[deadlines]\n"03" = 2026-11-20\n"03" = 2026-11-21', 'keep one of them: "03" = 2026-11-21'),
        ("[late]\ncap = 5\n[late]\npercent = 3", "line 3: this is there twice, keep one of them: [late]"),
        ('[sections]\nroster = "x.csv"', "roster is below [sections]. Write it above the first line in brackets"),
        ('[deadlines]\nattempts = "best"', "attempts is below [deadlines]. Write it above the first"),
        ('[deadlines]\n"03" = 2026-13-45', "line 2: there is no time 2026-13-45. Write 2026-11-20"),
        ('[deadlines]\n"03" = 2026-02-30T25:00:00', "line 2: there is no time 2026-02-30T25:00:00"),
        (
            '[deadlines]\n"03" = 2026-11-20\n[extensions]\n"4711" = { "03" = 2026-11-10 }',
            "4711: 03_context_vectors would",
        ),
        ('[deadlines]\n"03" = 2026-11-20\n[cut_off]\n"03" = 2026-11-10', "cut off before its deadline"),
        ('attempts = ["best"]', "latest, best"),
    ],
)
def test_what_is_wrong_in_course_toml_is_told(grade, tmp_path, text, words):
    lay(tmp_path, "course.toml", text)
    lay(tmp_path / "in", "ada/context_vectors.py")
    done = grade()
    assert done.returncode == 2 and words in done.stderr and "course.toml" in done.stderr


def test_overrides_and_comments(grade, here, tmp_path):
    lay(tmp_path, "course.toml", "")
    for student in ("ada", "bob"):
        lay(tmp_path / "in", f"{student}/context_vectors.py", WRONG[CONTEXT])
    grade()
    raw = float(by_student(tmp_path)["ada"][CONTEXT])
    failed = [c for c in json.loads((tmp_path / "out/ada/result.json").read_text())["results"][0]["checks"]
              if c["outcome"] == "failed"]  # fmt: skip
    lay(tmp_path, "overrides.csv", "student,exercise,check,points,reason,who\n"
        f"ada,03,{failed[0]['id']},,read it,=cmd()\nbob,03,,5.5,oral exam,Dr. Who\nbob,02,,2,paper,me\n")  # fmt: skip
    lay(tmp_path, "comments.csv", "student,exercise,comment\nada,03,Well <b>argued</b>.\n")
    lay(tmp_path, "comments/bob.md", "See me.\n")
    done = grade()
    assert done.returncode == 0, done.stderr
    table = by_student(tmp_path)
    assert float(table["ada"][CONTEXT]) == pytest.approx(raw + failed[0]["max_points"])
    assert (table["bob"][CONTEXT], table["bob"][SOFTMAX], table["bob"]["total"]) == ("5.5", "2", "7.5")
    assert "oral exam" in table["bob"]["note"] and "override: set by hand" in done.stderr
    page = (tmp_path / "out/ada/feedback.html").read_text()
    assert "Well &lt;b&gt;argued&lt;/b&gt;." in page and "set by hand" in page
    record = json.loads((tmp_path / "out/ada/result.json").read_text())["results"][0]
    shown = next(check for check in record["checks"] if check["id"] == failed[0]["id"])
    assert shown["outcome"] == "passed" and "read it" in shown["message"]  # nothing contradicts the mark
    assert json.loads((tmp_path / "out/bob/result.json").read_text())["results"][0]["points"] == 5.5
    assert "See me." in (tmp_path / "out/bob/feedback.html").read_text()
    assert "oral exam" in (tmp_path / "out/class.html").read_text()
    judged = len(here.seen)
    lay(tmp_path / "in", "bob/context_vectors.py")  # a new hand-in under an override
    done = grade()
    assert done.returncode == 3 and f"bob {CONTEXT}: the hand-in changed since" in done.stderr
    assert by_student(tmp_path)["bob"][CONTEXT] == "5.5" and len(here.seen) == judged + 1
    table = (tmp_path / "overrides.csv").read_text()
    table = table.replace("oral exam", "oral exam again")
    lay(tmp_path, "overrides.csv", table)
    assert grade().returncode == 0
    lay(tmp_path, "overrides.csv", "student,exercise,check,points,reason,who\nzoe,03,,5,,\n")
    assert grade().returncode == 3


@pytest.mark.parametrize("status", ["failed", "error"])
def test_points_for_an_exercise_leave_what_the_checks_found(status):
    result = replace(result_of(CONTEXT), status=status)
    override = Override("ada", CONTEXT, "", 3.5, "oral exam", "me")
    given = marking.apply_overrides(result, [override])
    assert (given.checks, given.points, given.checked_points) == (result.checks, 3.5, result.points)
    shown = " ".join(str(html.verdict(given, "full")).split())
    assert "3.5 of 7 points, set by hand" in shown and "oral exam" in shown


@pytest.mark.parametrize(
    "row", ["ada,99,,1,,", "ada,03,nothing,1,,", "ada,03,,8,,", "ada,03,,,,", "ada,03,,nan,,", "ada,03,,x,,"]
)
def test_a_wrong_line_of_overrides_is_told_with_its_number(grade, tmp_path, row):
    lay(tmp_path, "course.toml", "")
    lay(tmp_path, "overrides.csv", f"student,exercise,check,points,reason,who\n{row}\n")
    lay(tmp_path / "in", "ada/context_vectors.py")
    done = grade()
    assert done.returncode == 2 and "overrides.csv, line 2" in done.stderr


def test_the_best_attempt_counts_even_when_its_file_is_gone(grade, here, tmp_path, monkeypatch):
    lay(tmp_path, "course.toml", 'attempts = "best"\n')
    lay(tmp_path / "in", "ada/context_vectors.py")
    grade()
    lay(tmp_path / "in", "ada/context_vectors.py", WRONG[CONTEXT])
    grade()
    row = by_student(tmp_path)["ada"]
    assert row[CONTEXT] == "7" and row["note"] == "03: attempt 1 of 2 counts"
    own = ledger.version_of_exercise
    monkeypatch.setattr(ledger, "version_of_exercise", lambda folder: own(folder) + " fixed")
    here.changed = replaced_first
    before = len(here.seen)
    grade()
    assert len(here.seen) == before + 2  # the first attempt is judged again too
    assert by_student(tmp_path)["ada"][CONTEXT] == "6.5"


def test_a_mark_is_explained_by_any_name_and_with_the_rules(grade, said, tmp_path):
    lay(tmp_path, "roster.csv", CANVAS)
    lay(tmp_path, "course.toml", 'attempts = "best"\nroster = "roster.csv"\n[late]\npercent = 1\n')
    lay(tmp_path / "in", "lovelaceada_LATE_11_901_context_vectors.py")
    grade()
    shutil.rmtree(tmp_path / "in")
    lay(tmp_path / "in", "lovelaceada_11_902_context_vectors.py", WRONG[CONTEXT])
    grade()
    assert by_student(tmp_path)["11"][CONTEXT] == "6.93"
    for name in ("11", "S1", "ADA@x.edu", "Lovelace, Ada", "ada lovelace", "Lovelace"):
        told = said("explain", name, "03", "--out", "out", cwd=tmp_path)
        assert told.returncode == 0, told.stderr
        assert "Lovelace, Ada (11), 03_context_vectors" in told.stdout and "an earlier attempt  seed " in told.stdout
        assert "7 of 7 points, passed" in told.stdout and "The same as in the folder." in told.stdout
        assert told.stdout.endswith(
            "The mark: 6.93 of 7 points\n  late: 7 points before the deduction\n  attempt 1 of 2 counts\n"
        )


def test_a_mark_without_a_file_is_explained(grade, said, tmp_path):
    lay(tmp_path, "roster.csv", "id,name,login\na1,Ada Smith,ada\na2,Ada Smith,smith\nb,Bob Ray,bob\n")
    lay(tmp_path, "course.toml", 'roster = "roster.csv"\n')
    lay(tmp_path, "overrides.csv", "student,exercise,points,reason,who\na1,03,4,oral exam,me\n")
    lay(tmp_path, "aliases.csv", "found,student\nweek1-ghu7,b\n")
    (tmp_path / "in/week1-ghu7").mkdir()
    (tmp_path / "in/week1-ghu7/context_vectors.py").write_bytes(b"\xff")
    assert grade().returncode == 0

    def told(name: str) -> str:
        done = said("explain", name, "03", "--out", "out", cwd=tmp_path)
        return done.stdout + done.stderr

    by_hand = "that could be graded.\n\nThe mark: 4 of 7 points\n  set by hand: 4 points, by me (oral exam)\n"
    assert told("ADA").endswith(by_hand)  # her login
    assert "Ada Smith could be Ada Smith (a1); Ada Smith (a2). Name one by the id" in told("Ada Smith")
    for name in ("ghu7", "week1-ghu7", "bob", "Ray"):
        assert "context_vectors.py is not UTF-8 text" in told(name) and "The mark: 0 of 7 points" in told(name)
    assert "Ada Smith (a2) handed in nothing for 03_context_vectors" in told("smith")


def test_times_of_nbgrader_and_of_clones(tmp_path):
    assert arrivals.parse_time("2015-02-02 15:58:23.948203 UTC\n") == datetime(
        2015, 2, 2, 15, 58, 23, 948203, timezone.utc
    )
    assert arrivals.parse_time("2015-02-02 15:58:23 America/Los_Angeles").utcoffset() == timedelta(hours=-8)
    assert arrivals.parse_time("soon") is arrivals.parse_time("") is None
    clone, trap = tmp_path / "hw-ada", tmp_path / "trap"
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_COMMITTER_DATE": "2026-11-20T12:00:00+0100"}
    for words in (
        ["init", "-q"],
        ["-c", "user.name=a", "-c", "user.email=a@x", "commit", "-q", "--allow-empty", "-m", "x"],
    ):
        clone.mkdir(exist_ok=True)
        subprocess.run(["git", *words], cwd=clone, env=environment, check=True)
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    with (clone / ".git/config").open("a") as config:
        config.write(
            f"[core]\nfsmonitor = {trap}\npager = {trap}\n[gpg]\nprogram = {trap}\n[log]\nshowSignature = true\n"
        )
    place = f"{tmp_path}//hw-ada"
    assert arrivals.commit_time(place) == datetime(2026, 11, 20, 11, tzinfo=timezone.utc)
    assert not (tmp_path / "sprung").exists()
    (clone / ".git/HEAD").write_text("ref: ../../../../etc/passwd\n")
    assert arrivals.commit_time(place) is None and arrivals.commit_time(f"{tmp_path}//nothing") is None


def test_sections_and_extensions_move_the_deadline(tmp_path):
    lay(tmp_path, "course.toml", '[deadlines]\n"03" = 2026-11-20\n[cut_off]\n"03" = 2026-11-22\n[extensions]\n'
        '"ada" = { "03" = 2026-11-30 }\n[sections]\n"B" = { deadlines = { "03" = 2026-11-21 } }\n')  # fmt: skip
    course = course_rules.read_rules(tmp_path / "course.toml")
    assert [course.deadline(*who, CONTEXT).day for who in (("x", ""), ("x", "B"), ("ada", "B"))] == [20, 21, 30]
    assert [course.last(who, "", CONTEXT).day for who in ("x", "ada")] == [22, 30]


def test_students_read_no_path_of_the_instructors(grade, said, tmp_path):
    lay(tmp_path / "in", "stub/context_vectors.py", paths.stub(CONTEXT).read_text("utf-8"))
    lay(tmp_path / "in", "empty/context_vectors.py", "")
    (tmp_path / "in/latin").mkdir()
    (tmp_path / "in/latin/context_vectors.py").write_bytes("# Müller\n".encode("latin-1"))
    lay(tmp_path / "in", "broken/context_vectors.ipynb", "no notebook")
    lay(tmp_path / "in", "long_11_222_context_vectors.py", "def f(:\n")
    grade()
    said("handback", "canvas", "--release", "--out", tmp_path / "out", cwd=tmp_path)
    said("handback", "folder", "--release", "--out", tmp_path / "out", cwd=tmp_path)
    read = [path for path in (tmp_path / "out").rglob("*") if path.name in ("feedback.html", "result.json")]
    texts = [path.read_text("utf-8") for path in read]
    (archive,) = (tmp_path / "out/handback/canvas").glob("*.zip")
    with zipfile.ZipFile(archive) as opened:
        texts += [opened.read(name).decode() for name in opened.namelist()]
    assert len(texts) == 5 * 2 + 5 + 1
    for text in texts:
        assert str(tmp_path) not in text and str(paths.ROOT) not in text
    page = (tmp_path / "out/stub/feedback.html").read_text("utf-8")
    assert "write your code in place of each `raise NotImplementedError` in context_vectors.py" in page


# 4. Handing back.


def moodles_reading(name: str) -> tuple[str, str]:
    """The participant and the file's name, as Moodle's importziplib.php takes them from a path."""
    parts = name.split("/")
    while parts:
        info = parts.pop(0).split("_", 4)
        if len(info) >= 4 and info[1].isdigit() and info[2:4] == ["assignsubmission", "file"]:
            return info[1], "/".join([info[4] if len(info) > 4 else "", *parts]).strip("/")
    raise AssertionError(f"Moodle would ignore {name}")


def canvass_reading(name: str) -> tuple[str, str]:
    """The user and the attachment, as Canvas' infer_comment_context_from_filename takes them from a name."""
    assert not name.startswith("._") and not name.split("_")[-1].startswith("link")
    user, attachment = [part for part in name.split("_") if part.isdigit()][:2]
    return user, attachment


def test_handing_back_to_moodle_and_canvas(grade, said, tmp_path):
    moodle(tmp_path, {CONTEXT: 200}, worksheets=False)
    grade("--feedback", "hints")
    assert said("handback", "moodle", "--out", tmp_path / "out", cwd=tmp_path).returncode == 2
    lay(tmp_path, "course.toml", "release = 2999-01-01\n")
    assert said("handback", "moodle", "--out", tmp_path / "out", cwd=tmp_path).returncode == 2
    lay(tmp_path, "course.toml", "release = 2020-01-01\n")
    done = said("handback", "moodle", "--out", tmp_path / "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(tmp_path / f"out/handback/moodle/{CONTEXT}.zip") as archive:
        read = {moodles_reading(name): archive.read(name).decode() for name in archive.namelist()}
    assert set(read) == {(str(number), f"feedback_{CONTEXT}.html") for number in range(200, 206)}
    assert all(name in read[str(number), f"feedback_{CONTEXT}.html"] for number, name in enumerate(NAMES, 200))
    done = said("handback", "canvas", "--out", tmp_path / "out", "--release", cwd=tmp_path)
    assert done.returncode == 2 and "None of these hand-ins came from Canvas" in done.stderr
    done = said("handback", "folder", "--out", tmp_path / "out", "--release", cwd=tmp_path)
    assert done.returncode == 0 and (tmp_path / "out/handback/folder/205/feedback.html").exists()


def test_a_look_at_results_takes_the_rules_and_the_roster_of_the_run(grade, said, tmp_path):
    """A section's deadline and points by hand: without the files of the run, both would be other ones."""
    lay(tmp_path, "in/rayada_11_901_context_vectors.py")
    lay(tmp_path, "in/raybob_12_902_context_vectors.py")
    lay(tmp_path, "own/roster.csv", "id,name,section\n11,Ray Ada,Monday\n12,Ray Bob,Tuesday\n")
    sections = '[deadlines]\n"03" = 2026-11-20\n[sections]\n"Monday" = { deadlines = { "03" = 2026-11-30 } }\n'
    lay(tmp_path, "own/course.toml", f"[late]\npercent = 10\n{sections}")
    lay(tmp_path, "own/handed_in.csv", "student,exercise,time\n11,03,2026-11-21 10:00\n12,03,2026-11-21 10:00\n")
    assert grade("--roster", "own/roster.csv", "--rules", "own/course.toml").returncode == 0
    assert [by_student(tmp_path)[id][CONTEXT] for id in ("11", "12")] == ["7", "6.3"]
    where = ("--out", tmp_path / "out")
    for id, points in (("11", "7"), ("12", "6.3")):
        assert f"The mark: {points} of 7" in said("explain", id, "03", *where, cwd=tmp_path).stdout
    assert said("handback", "canvas", "--release", *where, cwd=tmp_path).returncode == 0
    with zipfile.ZipFile(tmp_path / f"out/handback/canvas/{CONTEXT}.zip") as archive:
        heads = {name: archive.read(name).decode().splitlines()[0] for name in archive.namelist()}
    assert "7 of 7 points" in heads["rayada_11_901_context_vectors.py"]
    assert "6.3 of 7 points" in heads["raybob_12_902_context_vectors.py"]
    (tmp_path / "own/roster.csv").rename(tmp_path / "own/moved.csv")
    for words in (["explain", "11", "03"], ["handback", "canvas", "--release"]):
        done = said(*words, *where, cwd=tmp_path)
        assert done.returncode == 2 and "roster.csv, which is not there. Name it: ROSTER=…" in done.stderr
    named = said("explain", "11", "03", "--roster", "own/moved.csv", *where, cwd=tmp_path)
    assert "The mark: 7 of 7" in named.stdout
    assert said("forget", "12", *where, cwd=tmp_path).returncode == 0


def test_handing_back_to_canvas_keeps_the_kind_of_the_file(grade, said, tmp_path):
    lay(tmp_path / "in", "rayada_11_901_context_vectors.py", WRONG[CONTEXT])
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
        {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": 1, "source": RIGHT[CONTEXT]}
    ]}  # fmt: skip
    lay(tmp_path / "in", "raybob_LATE_12_902_context_vectors.ipynb", json.dumps(notebook))
    with zipfile.ZipFile(tmp_path / "in/raycyd_13_903_mine.zip", "w") as archive:
        archive.writestr("context_vectors.py", RIGHT[CONTEXT])
    grade()
    said("handback", "canvas", "--out", tmp_path / "out", "--release", cwd=tmp_path)
    with zipfile.ZipFile(tmp_path / f"out/handback/canvas/{CONTEXT}.zip") as archive:
        read = {canvass_reading(name): archive.read(name) for name in archive.namelist()}
    assert set(read) == {("11", "901"), ("12", "902"), ("13", "903")}
    python = read["11", "901"].decode()
    assert compile(python, "x", "exec") and "likely: " in python and all(line[0] == "#" for line in python.splitlines())
    assert "7 of 7" in json.loads(read["12", "902"])["cells"][0]["source"]
    assert zipfile.ZipFile(io.BytesIO(read["13", "903"])).namelist() == [f"feedback_{CONTEXT}.html"]


def test_exercises_of_one_column_are_one_assignment(grade, said, tmp_path):
    """So the points to set there, and what goes back, do not depend on what was handed in so far."""
    lay(tmp_path, "course.toml", '[columns]\n"Attention (98766)" = ["03", "02", "04"]\n"All (9)" = "total"\n')
    titles = "Student,ID,SIS User ID,SIS Login ID,Section,Attention (98766),All (9)\n    Points Possible,,,,,5,5\n"
    lay(tmp_path, "roster.csv", titles + '"Ray, Ada",11,,,A,,\n"Ray, Bob",12,,,A,,\n')
    lay(tmp_path, "comments.csv", "student,exercise,comment\n11,,Well done.\n")
    lay(tmp_path / "in", "rayada_11_901_context_vectors.py")
    lay(tmp_path / "in", "rayada_11_902_softmax_naive.py", RIGHT[SOFTMAX])
    with zipfile.ZipFile(tmp_path / "in/raybob_12_903_mine.zip", "w") as archive:
        archive.writestr("context_vectors.py", RIGHT[CONTEXT])
    done = grade("--roster", "roster.csv")
    points = sum(catalog.find(number).max_points for number in ("02", "03", "04"))
    assert f"it has 5 points there and {points:g} here: set {points:g} there" in done.stderr
    assert "it has 5 points there and 13 here with the exercises handed in so far" in done.stderr
    assert said("handback", "canvas", "--out", tmp_path / "out", "--release", cwd=tmp_path).returncode == 0
    assert [path.name for path in (tmp_path / "out/handback/canvas").iterdir()] == ["02_03_04.zip"]
    with zipfile.ZipFile(tmp_path / "out/handback/canvas/02_03_04.zip") as archive:
        read = {canvass_reading(name): archive.read(name) for name in archive.namelist()}
    assert set(read) == {("11", "902"), ("12", "903")}  # each file would be a comment of its own
    text = read["11", "902"].decode()
    assert "# Well done.\n" in text and all(line.startswith("#") for line in text.splitlines())
    for words in ("Feedback on 02 Softmax: 6 of 6", "Feedback on 03 Context vectors: 7 of 7", "nothing handed in"):
        assert text.count(words) == 1
    assert zipfile.ZipFile(io.BytesIO(read["12", "903"])).namelist() == ["feedback_02_03_04.html"]


def test_the_anonymous_page_names_nobody(grade, tmp_path):
    for student in ("ada.lovelace", "grace.hopper"):
        lay(tmp_path / "in", f"{student}/context_vectors.py")
    assert grade("--anonymous").returncode == 0
    page, key = (tmp_path / "out/class.html").read_text(), tmp_path / "out/pseudonyms.csv"
    assert "lovelace" not in page and "hopper" not in page and "student 0001" in page
    assert key.stat().st_mode & 0o077 == 0
    before = {row["student"]: row["pseudonym"] for row in rows(key)}
    lay(tmp_path / "in", "emmy/context_vectors.py")
    grade("--anonymous")
    after = {row["student"]: row["pseudonym"] for row in rows(key)}
    assert before.items() < after.items() and len(set(after.values())) == 3


# 6. Smaller.


def test_an_exception_in_the_students_own_words_is_shown(grade, tmp_path):
    own = "def attention_weights(inputs):\n    raise ValueError('no batches yet')\n"
    hidden = "def context_vectors(inputs):\n    raise ValueError(f'{inputs}')\n"
    lay(tmp_path / "in", "ada/context_vectors.py", own + hidden)
    grade()
    checks = json.loads((tmp_path / "out/ada/result.json").read_text())["results"][0]["checks"]
    said = [check["message"] for check in checks]
    assert any("ValueError: no batches yet" in text for text in said)
    assert not any("tensor([" in text for text in said)


def test_wrong_use_is_one_exception(tmp_path):
    with pytest.raises(WrongUse):
        course_rules.read_rules(tmp_path / "none.toml")
