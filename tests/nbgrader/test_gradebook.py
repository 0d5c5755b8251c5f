"""The fast road ends where `nbgrader autograde` ends: in SQLite, and in a real PostgreSQL."""

import contextlib
import csv
import datetime
import os
import shutil
import socket
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from a_course import FOLDER, Course, cell
from extras import needed, when_used
from in_this_process import Here
from made_up_class import result_of
from thorough import nightly

from grader import catalog
from grader.catalog.errors import BadSubmission, WrongUse
from grader.classroom import marking, office, run
from grader.classroom.handins import Graded
from grader.judge import grading
from grader.records import seeds as seeds_of
from grader.records.results import Settings, unreadable

needed("nbgrader", "classroom")
nbformat = when_used("nbformat")
PACKAGE = "grader.integrations.nbgrader"
cells, course, gradebook, preprocessors, autograding = (
    when_used(f"{PACKAGE}.{name}") for name in ("cells", "course", "gradebook", "preprocessors", "autograding")
)

SEED = 7
CONFIG = f"""
c.GradeInSandbox.seed = {SEED}
c.LateSubmissionPlugin.penalty_method = "zero"
"""


@pytest.fixture
def grade(fork_server):
    """What the classroom's machinery does, in one process."""

    def work(handins):
        exercise, settings = catalog.find("03"), Settings(seed=SEED, reveal=False)
        for handin in handins:
            try:
                yield Graded(handin.student, grading.result(exercise, handin.read(), fork_server, settings))
            except BadSubmission as error:
                yield Graded(handin.student, unreadable(exercise, handin.shown, str(error), settings))

    return work


def fill(course: Course) -> None:
    """Five students: right, half right, late, not begun, and a file that is no notebook."""
    half = course.solved()
    cell(
        half, "write_context_vector"
    ).source = "def context_vector(inputs, query_index):\n    return inputs[query_index]"
    graded = cell(half, "task_3")
    graded.source, graded.metadata.nbgrader.points = "raise SystemExit", 99
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write(CONFIG)
    course.submit("ada", course.solved(), "2026-01-01 10:00:00 UTC")
    course.submit("ben", half, "2026-01-01 11:00:00 UTC")
    course.submit("late", course.solved(), "2026-02-01 10:00:00 UTC")
    course.submit("stub", course.released())
    course.submit("torn", '{"cells": [')


def due(course: Course, db_url: str | None = None) -> None:
    with course.gradebook(db_url) as book:
        book.update_or_create_assignment(FOLDER, duedate=datetime.datetime(2026, 1, 15))


def state(course: Course, db_url: str | None = None) -> dict:
    """Everything that a run leaves: rows of the gradebook and files, without the ids that nbgrader draws."""
    found = {}
    with course.gradebook(db_url) as book:
        for entry in book.assignment_submissions(FOLDER):
            (notebook,) = entry.notebooks
            grades = sorted(
                (g.name, g.auto_score, g.manual_score, g.needs_manual_grade, g.score) for g in notebook.grades
            )
            comments = sorted((c.name, c.auto_comment, c.manual_comment) for c in notebook.comments)
            found[entry.student.id] = (entry.timestamp, notebook.late_submission_penalty, grades, comments)
    for path in sorted((course.root / "autograded").rglob("*")):
        if path.is_file():
            name = str(path.relative_to(course.root))
            found[name] = (path.stat().st_mode, path.read_text("utf-8"))
    return found


def test_the_same_state_as_autograde(classroom, grade, tmp_path):
    fill(classroom)
    due(classroom)
    shutil.copytree(classroom.root, tmp_path / "other" / "kata")
    stock = Course(tmp_path / "other" / "kata")
    stock.nbgrader("autograde", FOLDER, ok=False)
    done = gradebook.grade_course(classroom.root, FOLDER, grade)
    assert sorted(done.graded) == ["ada", "ben", "late", "stub"]
    assert list(done.failed) == ["torn"] and done.failed["torn"]
    mine, theirs = state(classroom), state(stock)
    assert set(mine) == set(theirs)
    for name in mine:
        assert mine[name] == theirs[name], name
    assert mine["late"][1] == 7.0 and mine["ben"][1] is None
    assert mine["ben"][2][1][:2] == ("task_2", 0.0) and mine["stub"][3][0][1] == "No response."
    assert (classroom.root / "autograded" / "ada" / FOLDER / "timestamp.txt").read_text().startswith("2026-01-01")


def test_the_rules_of_the_course_hold(classroom, grade):
    """The deadline, the late rule with an extension and a section of its own, and overrides."""
    fill(classroom)
    classroom.submit("slow", classroom.solved(), "2026-02-01 10:00:00 UTC")
    (classroom.root / "course.toml").write_text(
        'roster = "roster.csv"\n[late]\npercent = 20\ncap = 40\n[deadlines]\n"03" = 2026-01-30T12:00:00\n'
        '[extensions]\n"slow" = { "03" = 2026-01-31T12:00:00 }\n'
        '[sections]\n"B" = { deadlines = { "03" = 2025-12-31T12:00:00 } }\n'
    )
    (classroom.root / "roster.csv").write_text("id,section\nben,B\nada,A\n")
    (classroom.root / "overrides.csv").write_text("student,exercise,points,reason,who\nstub,03,3.5,oral exam,me\n")
    rules = office.read(classroom.root / "course.toml", None)
    gradebook.grade_course(classroom.root, FOLDER, grade, office=rules)
    found = state(classroom)
    early = 0.2 * sum(points or 0 for _, points, *_ in found["ben"][2])
    assert early > 0
    assert {student: found[student][1] for student in ("ada", "ben", "late", "slow")} == {
        "ada": None, "ben": pytest.approx(early), "late": 2.8, "slow": 1.4,
    }  # fmt: skip
    assert sum(points for _, points, *_ in found["stub"][2] if points) == 3.5


@pytest.mark.parametrize("status", ["failed", "error"])
def test_points_for_a_whole_exercise_do_not_turn_what_passed_into_what_failed(status):
    result = replace(result_of(FOLDER, passed=0.5), status=status)
    given = marking.apply_overrides(result, [marking.Override("ada", FOLDER, "", 3.5, "oral exam", "me")])
    made = [
        cells.Cell(f"task_{task}", "code", "", None, locked=True, grade=True, points=points)
        for task, points in ((0, 3.0), (1, 4.0))
    ]
    assert sum(cells.score(given, cell) for cell in made) == 3.5
    page = cells.html(given, made[0], first=True)
    assert "oral exam" in page and "set by hand for the exercise" in page
    passed = sum(check.outcome == "passed" for check in result.checks)
    assert page.count("✔") == (passed if status == "failed" else 0)


def test_what_is_graded_is_left_alone_until_it_changes(classroom, grade):
    fill(classroom)
    asked = []

    def counted(handins):
        asked.append([handin.student.id for handin in handins])
        return grade(handins)

    gradebook.grade_course(classroom.root, FOLDER, counted)
    with classroom.gradebook() as book:
        book.find_grade("task_3", FOLDER, FOLDER, "ben").manual_score = 3.25
        book.find_comment("write_context_vector", FOLDER, FOLDER, "ben").manual_comment = "Nearly."
        book.db.commit()
    gradebook.grade_course(classroom.root, FOLDER, counted)
    classroom.submit("ben", classroom.solved(), "2026-01-02 11:00:00 UTC")
    gradebook.grade_course(classroom.root, FOLDER, counted)
    assert asked == [["ada", "ben", "late", "stub", "torn"], ["torn"], ["ben", "torn"]]
    assert classroom.scores("ben") == {"task_1": 2.5, "task_2": 1.0, "task_3": 3.5}
    with classroom.gradebook() as book:
        kept = book.find_grade("task_3", FOLDER, FOLDER, "ben")
        assert (kept.manual_score, kept.score, kept.needs_manual_grade) == (3.25, 3.25, True)
        assert book.find_comment("write_context_vector", FOLDER, FOLDER, "ben").comment == "Nearly."
    gradebook.grade_course(classroom.root, FOLDER, counted, force=True)
    assert asked[-1] == asked[0]


def test_who_could_not_be_graded_stays_in_need_of_it(classroom, grade):
    classroom.submit("ada", classroom.solved())
    classroom.submit("ben", classroom.solved())
    done = gradebook.grade_course(classroom.root, FOLDER, lambda handins: grade(handins[:1]))
    assert done == gradebook.Recorded(("ada",), {"ben": "it was not graded"})
    assert not (classroom.root / "autograded" / "ben").exists()
    assert [h.student.id for h in autograding.waiting(autograding.open_app(classroom.root, FOLDER, None))] == ["ben"]


def test_wrong_use_says_what_to_type(classroom, tmp_path):
    with pytest.raises(WrongUse, match="make nbgrader COURSE=dir"):
        gradebook.grade_course(tmp_path / "nowhere", FOLDER, list)
    with pytest.raises(WrongUse, match=r"no assignment 3\. Did you mean 03_context_vectors"):
        gradebook.grade_course(classroom.root, "3", list)
    with pytest.raises(WrongUse, match="nbgrader generate_assignment 04_other"):
        gradebook.grade_course(classroom.root, "04_other", list)
    with pytest.raises(WrongUse, match=f"nbgrader collect {FOLDER}"):
        gradebook.grade_course(classroom.root, FOLDER, list)


@contextlib.contextmanager
def postgres(folder: Path):
    """A private server, gone afterwards. Skips, with the reason, where PostgreSQL is not installed."""
    pytest.importorskip("psycopg2", reason="psycopg2 is not installed (the extra dev)")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or [*filter(None, [shutil.which("initdb")])]
    if not found:
        pytest.skip("no PostgreSQL here: apt-get install postgresql")
    bin, user = Path(found[-1]).parent, []
    if os.getuid() == 0:  # which the server refuses to run as
        user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        shutil.chown(folder, "postgres")
        for parent in folder.parents:
            if parent.stat().st_uid == os.getuid() and parent != Path("/") and parent != Path("/tmp"):
                parent.chmod(parent.stat().st_mode | 0o011)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data, log = folder / "data", folder / "log"
    control = [*user, str(bin / "pg_ctl"), "-D", str(data), "-l", str(log), "-w"]
    quiet = {"check": True, "capture_output": True, "cwd": folder, "timeout": 60}
    subprocess.run([*user, bin / "initdb", "-D", data, "-U", "kata", "-A", "trust", "--no-sync"], **quiet)
    subprocess.run([*control, "-o", f"-p {port} -k {folder} -h 127.0.0.1 -F", "start"], **quiet)
    try:
        yield f"postgresql+psycopg2://kata@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], check=False, capture_output=True, cwd=folder, timeout=60)


@nightly
def test_any_database(classroom, grade, tmp_path_factory):
    """The same rows in PostgreSQL, named by the course's own settings."""
    fill(classroom)
    with postgres(tmp_path_factory.mktemp("postgres")) as db_url:
        with (classroom.root / "nbgrader_config.py").open("a") as file:
            file.write(f"c.CourseDirectory.db_url = {db_url!r}\n")
        classroom.nbgrader("generate_assignment", FOLDER, "--force")
        due(classroom, db_url)
        done = gradebook.grade_course(classroom.root, FOLDER, grade)
        assert sorted(done.graded) == ["ada", "ben", "late", "stub"]
        rows = {name: entry for name, entry in state(classroom, db_url).items() if "/" not in name}
        with classroom.gradebook() as book:
            assert book.assignment_submissions(FOLDER) == []  # nothing went to the default gradebook
        classroom.nbgrader("autograde", FOLDER, "--force", ok=False)
        again = {name: entry for name, entry in state(classroom, db_url).items() if "/" not in name}
        assert rows == {name: again[name] for name in rows} and rows["ada"][2][2][1] == 3.5


def test_a_notebook_is_read_as_the_engine_reads_it(classroom):
    """The learner's cells alone, whatever stands in a grade cell; nothing else of the file matters."""
    fill(classroom)
    handins = {h.student.id: h for h in autograding.waiting(autograding.open_app(classroom.root, FOLDER, None))}
    code = handins["ben"].read()
    assert "SystemExit" not in code.source and "%documented" not in code.source and code.notes == ()
    assert code.filename == f"{FOLDER}.ipynb"
    with pytest.raises(BadSubmission):
        handins["torn"].read()
    assert nbformat.reads(handins["ada"].path.read_text(), 4)


def test_from_the_command_line(classroom, said, fork_server, monkeypatch):
    """Two assignments of one course, each recorded as its own; the course's settings hold."""
    other = catalog.find("02").folder
    course.make(classroom.root, (catalog.find("02"),))
    classroom.nbgrader("generate_assignment", other)
    fill(classroom)
    target = classroom.root / "submitted" / "ada" / other / f"{other}.ipynb"
    target.parent.mkdir(parents=True)
    shutil.copy(classroom.root / "release" / other / target.name, target)
    command = ["grade", "--nbgrader", str(classroom.root), "--jobs", "1", "--assignment"]
    done = classroom.run("grader", *command, other)
    assert "1 submission recorded" in done.stderr and f"Seed {SEED}" in done.stderr
    monkeypatch.setattr(run, "executor_of", Here(fork_server))  # the same command, without a process
    done = said(*command, FOLDER, cwd=classroom.root)
    assert done.returncode == 3 and "torn still needs autograding" in done.stderr and "Traceback" not in done.stderr
    assert classroom.scores("ada") == {"task_1": 2.5, "task_2": 1.0, "task_3": 3.5}
    with classroom.gradebook() as book:
        assert book.find_submission(other, "ada").score == 0
        assert {entry.student.id for entry in book.assignment_submissions(FOLDER)} >= {"ada", "ben", "late", "stub"}
    done = said(*command, other, cwd=classroom.root)
    assert done.stderr.startswith("Nothing waits for autograding. All again,")


def test_a_notebook_with_another_name_is_named(classroom, said, fork_server, monkeypatch):
    monkeypatch.setattr(run, "executor_of", Here(fork_server))
    for student in ("ada", "ben", "cyd"):
        classroom.submit(student, classroom.solved())
    place = classroom.root / "submitted/{}" / FOLDER / f"{FOLDER}.ipynb"
    ben = Path(str(place).format("ben"))
    ben.rename(ben.with_name("context_vectors (1).ipynb"))
    Path(str(place).format("cyd")).unlink()
    command = ("grade", "--nbgrader", ".", "--jobs", "1", "--assignment", FOLDER)
    for _ in range(2):  # also when nothing else waits
        done = said(*command, cwd=classroom.root)
        assert done.returncode == 3, done.stderr
        assert (
            f"ben still needs autograding: the folder holds context_vectors (1).ipynb and no {FOLDER}.ipynb"
            in done.stderr
        )
        assert f"cyd still needs autograding: the folder holds no {FOLDER}.ipynb" in done.stderr
        assert "recorded in the gradebook of kata." in done.stderr
    totals = (classroom.root / "totals.csv").read_text()
    assert "ada,,7,7,7,," in totals and "a person's score" not in totals
    ben_row, cyd_row = (next(csv.reader([line])) for line in totals.splitlines() if line.startswith(("ben,", "cyd,")))
    assert ben_row[:5] == ["ben", "", "", "", "7"] and ben_row[6].startswith("03: the folder holds context_vectors (1)")
    assert cyd_row[6] == f"03: the folder holds no {FOLDER}.ipynb"
    ben.with_name("context_vectors (1).ipynb").rename(ben)
    assert "cyd" in said(*command, cwd=classroom.root).stderr and classroom.scores("ben")["task_3"] == 3.5


UNFIT = {
    os.fsdecode(b"b\xff"): "",
    "a\nb": "",
    "a\x1b[31m": "",
    "garbage": "no time at all",
    "digits": "9" * 150,
    "zone": "2026-01-01 10:00:00 " + "9" * 30,
    "later": "9999-12-31 23:59:59 -99999999",
}


def test_a_folder_that_nbgrader_cannot_read_costs_that_student_alone(classroom, grade):
    """nbgrader itself ends at a line break in a name, and at a timestamp.txt that is no time."""
    for student, timestamp in {**UNFIT, "ada": "", "zoe": "2026-01-01 10:00:00 UTC"}.items():
        classroom.submit(student, classroom.solved(), timestamp)
    pipe = classroom.submit("pipe", classroom.solved()) / "timestamp.txt"
    os.mkfifo(pipe)
    for _ in range(2):  # the second time there is a timestamp to compare with
        done = gradebook.grade_course(classroom.root, FOLDER, grade, force=True)
        assert sorted(done.graded) == ["ada", "zoe"]
        assert set(done.failed) == {*UNFIT, "pipe"} and all(done.failed.values())
    assert all(sum(classroom.scores(student).values()) == 7.0 for student in done.graded)


DRAWN = """
from grader.integrations.nbgrader import preprocessors as _preprocessors
_draw = _preprocessors.secret_seed
def _kept():
    seed = _draw()
    with open({file!r}, "a") as file:
        file.write(f"{{seed}}\\n")
    return seed
_preprocessors.secret_seed = _kept
"""


def test_the_secret_of_a_run_of_nbgrader_is_in_nothing_that_it_leaves(classroom, tmp_path, monkeypatch):
    """With nbgrader's own commands, from autograde to the feedback: what the seed was, the settings wrote down."""
    wrong = classroom.solved()
    source = "def context_vector(inputs, query_index):\n    print(inputs)\n    return inputs[query_index]"
    cell(wrong, "write_context_vector").source = source
    classroom.submit("ada", classroom.solved())
    classroom.submit("ben", wrong)
    with (classroom.root / "nbgrader_config.py").open("a") as file:
        file.write(DRAWN.format(file=str(tmp_path / "drawn")))
    told = ""
    # The settings put theirs there.
    monkeypatch.setattr(f"{PACKAGE}.preprocessors.secret_seed", preprocessors.secret_seed)
    for command in (
        ("autograde", FOLDER),
        ("autograde", "--force", FOLDER),
        ("generate_feedback", FOLDER),
        ("export",),
    ):
        done = classroom.nbgrader(*command)
        told += done.stdout + done.stderr
    seeds = {int(line) for line in (tmp_path / "drawn").read_text().split()}
    assert len(seeds) >= 2 and min(seeds) > seeds_of.SECRET  # two runs
    assert (classroom.root / "feedback" / "ben" / FOLDER / f"{FOLDER}.html").exists()
    left = [path.read_bytes() for path in classroom.root.rglob("*") if path.is_file()] + [told.encode()]
    for seed in seeds:
        for number in (seed, seed - seeds_of.SECRET, seeds_of.torch_seed(seed)):
            signs = (f"{number}".encode(), f"{number:x}".encode())
            assert not any(sign in text for sign in signs for text in left)


def test_there_is_one_secret_for_each_run_however_long_its_process_lives():
    from nbgrader.converters import Autograde

    def drawn(run: Autograde) -> int:
        return preprocessors.GradeInSandbox(parent=run.exporter)._seed

    runs = [Autograde(), Autograde()]
    for run_ in runs:
        run_.exporter = run_.exporter_class(parent=run_, config=run_.config)
    assert drawn(runs[0]) == drawn(runs[0]) >= seeds_of.SECRET
    assert drawn(runs[0]) != drawn(runs[1])
