"""Assignments as platforms have them: joined columns, GitHub Classroom's list and points, a course's own folder."""

import base64
import csv
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from made_up_class import result_of
from test_office import CONTEXT, RIGHT, SOFTMAX, WRONG, by_student, grade, here, lay, rows  # noqa: F401 (two fixtures)

from grader import catalog
from grader.catalog import paths
from grader.catalog.errors import WrongUse
from grader.classroom.roster import reading
from grader.records.results import NOT_GRADED
from grader.reports import ci

TITLES = "Student,ID,SIS User ID,SIS Login ID,Section,Attention (98766),03 Context vectors (5)\n"
TITLES += "    Points Possible,,,,,5,7\n"
GITHUB = "identifier,github_username,github_id,name\n"


# A column that joins several exercises


def test_a_joined_column_weighs_its_exercises_as_the_course_does(grade, said, tmp_path):  # noqa: F811
    lay(tmp_path, "course.toml", '[columns]\n"Attention (98766)" = ["02", "03"]\n[weights]\n"03" = 2\n')
    lay(tmp_path, "roster.csv", TITLES + '"Ray, Ada",11,,,A,,\n"Ray, Bob",12,,,A,,\n')
    lay(tmp_path / "in", "rayada_11_901_context_vectors.py")
    lay(tmp_path / "in", "rayada_11_902_softmax_naive.py", RIGHT[SOFTMAX])
    lay(tmp_path / "in", "raybob_12_903_context_vectors.py")
    done = grade("--roster", "roster.csv")
    most = catalog.find("02").max_points + 2 * catalog.find("03").max_points
    assert f"it has 5 points there and {most:g} here: set {most:g} there" in done.stderr
    with (tmp_path / "out/upload/roster.csv").open() as file:
        points = {row["ID"]: list(row.values())[5:] for row in csv.DictReader(file)}
    assert points["11"] == [f"{most:g}", "7"] and points["12"] == ["14", "7"]  # alone, 03 has its own points
    said("handback", "canvas", "--out", tmp_path / "out", "--release", cwd=tmp_path)
    (archive,) = (tmp_path / "out/handback/canvas").glob("*.zip")
    with zipfile.ZipFile(archive) as opened:
        texts = {name: opened.read(name).decode() for name in opened.namelist()}
    assert len(texts) == 2  # one comment for each student
    assert f"# Together: {most:g} of {most:g} points (03 counts 2 times)\n" in texts["rayada_11_902_softmax_naive.py"]
    assert f"# Together: 14 of {most:g} points" in texts["raybob_12_903_context_vectors.py"]


# GitHub Classroom's list beside another roster


def joined(tmp_path, canvas: str, github: str):
    lay(tmp_path, "roster/a_classroom_roster.csv", GITHUB + github)  # read first, and yet the second
    lay(tmp_path, "roster/gradebook.csv", TITLES + canvas)
    roster = reading.read_roster(tmp_path / "roster")
    return {person.id: person.accounts for person in roster.people}, roster.accounts


def test_accounts_join_by_what_the_instructor_wrote(tmp_path):
    canvas = '"Lovelace, Ada",11,s11,ada@x.edu,A,,\n"Ray, Bob",12,s12,bob,A,,\n"Ray, Cy",13,s13,cy,A,,\n'
    github = '"Ada Lovelace",countess,1,Zed\nBOB,bobby99,2,"Cy Ray"\ns13,13x,3,\n"Dee Late",,,\n'
    people, accounts = joined(tmp_path, canvas, github)
    assert people == {"11": ("countess",), "12": ("bobby99",), "13": ("13x",)} and accounts == ()


def test_nobody_is_joined_by_a_name_that_they_chose_or_that_two_have(tmp_path):
    canvas = '"Ray, Ada",11,,,A,,\n"Ray, Ada",12,,,A,,\n"Ray, Bob",13,,,A,,\n'
    github = 'Ada Ray,ghada,1,\n,ghbob,2,"Bob Ray"\nmallory,ghmal,3,"Bob Ray"\n"Bob Ray",one,4,\n"Ray, Bob",two,5,\n'
    people, accounts = joined(tmp_path, canvas, github)
    assert set(people.values()) == {()}
    asked = {account.login: account.fits for account in accounts}
    assert asked["ghada"] == ("11", "12") and asked["one"] == asked["two"] == ("13",)
    assert asked["ghbob"] == asked["ghmal"] == ()


def test_an_account_is_asked_for_once(grade, tmp_path):  # noqa: F811
    lay(tmp_path, "roster/gradebook.csv", TITLES + '"Ray, Ada",11,,,A,,\n"Ray, Bob",12,,,A,,\n"Young, Cy",13,,,A,,\n')
    lay(tmp_path, "roster/classroom_roster.csv", GITHUB + "Ada Ray,ghada,1,\nR. Bob,ghbob,2,\ncy@gmail.com,ghcy,3,\n")
    for login in ("ghada", "ghbob"):
        lay(tmp_path / "in", f"week3-{login}/exercises/{CONTEXT}/context_vectors.py")
        lay(tmp_path / "in", f"week3-{login}/.git/HEAD", "ref: refs/heads/main\n")
    done = grade("--roster", "roster")
    assert done.returncode == 3 and "different people" not in done.stderr, done.stderr
    waiting = {row["found"]: row for row in rows(tmp_path / "roster/aliases.csv")}
    assert set(waiting) == {"ghbob", "ghcy"}, done.stderr  # who has handed in nothing yet is asked for too
    assert waiting["ghbob"]["name"] == "R. Bob" and waiting["ghbob"]["could be"].split()[0] == "12"
    assert by_student(tmp_path)["11"][CONTEXT] == "7"
    table = "found,name,student,could be\nghbob,R. Bob,12,\nghcy,cy@gmail.com,13,\n"
    (tmp_path / "roster/aliases.csv").write_text(table)
    done = grade("--roster", "roster")
    assert done.returncode == 0, done.stderr
    assert [by_student(tmp_path)[id][CONTEXT] for id in ("11", "12", "13")] == ["7", "7", ""]
    assert (tmp_path / "roster/aliases.csv").read_text() == table


def test_the_list_alone_is_a_roster_as_before(tmp_path):
    lay(tmp_path, "classroom_roster.csv", GITHUB + "ada,ghada,1,Ada\n")
    roster = reading.read_roster(tmp_path / "classroom_roster.csv")
    assert [person.id for person in roster.people] == ["ada"] and "ghada" in roster.people[0].keys
    lay(tmp_path, "classroom_roster.csv", GITHUB + "ada,ghada,1,Ada\n,ghbob,2,Bob\n")
    with pytest.raises(WrongUse, match="line 3: Bob has no id"):
        reading.read_roster(tmp_path / "classroom_roster.csv")


def test_files_of_two_other_platforms_are_still_refused(tmp_path):
    lay(tmp_path, "roster/gradebook.csv", TITLES + '"Ray, Ada",11,,,A,,\n')
    lay(tmp_path, "roster/classroom50.csv", "username,first_name,last_name,github_id\nzed,Zed,Zed,1\n")
    with pytest.raises(WrongUse, match="different people"):
        reading.read_roster(tmp_path / "roster")


# GitHub Classroom's points


def reported(result) -> dict:
    """The results of one runner, as the reporter's main.js decodes them."""
    (line,) = ci.as_classroom(result).splitlines()
    return json.loads(base64.b64decode(line))


@pytest.mark.parametrize("passed", [0.0, 0.5, 1.0])
def test_the_reporter_adds_up_the_points(passed):
    result = result_of(CONTEXT, passed)
    report = reported(result)
    assert sum(test["score"] for test in report["tests"]) == 4 * result.points
    assert report["max_score"] == 4 * result.max_points and report["version"] == 1
    assert {test["status"] for test in report["tests"]} <= {"pass", "fail"}
    assert report["status"] == ("pass" if passed == 1.0 else "fail")
    assert all(test["message"] for test in report["tests"] if test["status"] == "fail")


def test_what_is_no_verdict_reports_no_points():
    report = reported(result_of(CONTEXT, status=NOT_GRADED, message="the worker died", checks=()))
    assert (report["status"], report["max_score"]) == ("error", 0)


def test_the_command_prints_one_line_for_the_step(said, tmp_path):
    path = tmp_path / "context_vectors.py"
    path.write_text(WRONG[CONTEXT])
    done = said("check", "03", "--submission", path, "--format", "classroom", "--where", "0")
    report = json.loads(base64.b64decode(done.stdout.strip()))
    assert done.returncode == 1 and 0 < sum(test["score"] for test in report["tests"]) < report["max_score"]


# A folder of the course


def test_make_works_in_the_folder_of_a_course(said, tmp_path):
    kata = Path(sys.executable).with_name("kata")
    if not kata.exists():
        pytest.skip("kata is not installed beside this Python")
    folder = tmp_path / "term"
    folder.mkdir()
    done = said("course", "--output", folder / "course.toml")
    assert "Makefile is written" in done.stdout
    assert len((folder / "Makefile").read_text().splitlines()) == 3
    lay(folder, "downloads/ada/context_vectors.py", WRONG[CONTEXT])
    lay(folder, "torch.py", "raise SystemExit('a hand-in was imported')\n")
    lay(folder, "grader/__init__.py", "raise SystemExit('a hand-in was imported')\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    environment["PYTHONPATH"] = str(paths.ROOT)

    def make(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["make", *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
        )

    done = make("grade", "SUBMISSIONS=downloads", "JOBS=1", "SEED=7")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "results/ada/feedback.html").exists()
    assert "does nothing here. Type: make grade" in make("grade", "submissions=downloads").stderr
    assert "handback" in make("help").stdout + make("help-teacher").stdout
    written = (folder / "Makefile").read_text()
    assert said("course", "--output", folder / "other.toml").returncode == 0
    assert (folder / "Makefile").read_text() == written
