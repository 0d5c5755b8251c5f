"""A made-up term: three weekly downloads of Canvas, graded by the command, each number computed again by hand.

200 students, two assignments; late hand-ins, second attempts, a student who leaves and one who joins, a check that is
mended in the second week, five overrides, feedback handed back, the gradebook in and out.
"""

import csv
import io
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from in_this_process import Here

from grader import catalog
from grader.catalog import mistakes, paths
from grader.classroom import run, version
from grader.judge import examiner
from grader.records.submission import Submission

SOFTMAX, CONTEXT = "02_softmax_naive", "03_context_vectors"
TITLES = {SOFTMAX: "02 Softmax (902)", CONTEXT: "Homework two (903)"}
STUDENTS = [str(4000 + number) for number in range(200)]
LEAVER, JOINER = "4005", "4300"
RULES = """\
attempts = "best"
[late]
percent = 10
cap = 30
[deadlines]
"02" = 2026-11-06T12:00:00
"03" = 2026-11-13T12:00:00
[extensions]
"4029" = { "02" = 2026-11-30 }
[weights]
"03" = 2
[columns]
"Homework two (903)" = "03"
"""
PENALTY = {0: 0.0, 1: 0.1, 2: 0.2, 4: 0.3}  # days late → the share that is lost
DAYS = {"4046": 2, "4063": 4}  # what handed_in.csv says of two whom Canvas marks as late
OVERRIDES = {"4010": 1.0, "4011": 0.0, "4012": 7.0, "4013": 3.5, "4014": 2.25}  # points for the second assignment


def sources() -> dict[tuple[str, str], str]:
    """The four texts that are handed in: right and wrong, of two exercises."""
    right = {(folder, "right"): paths.solution(folder).read_text("utf-8") for folder in (SOFTMAX, CONTEXT)}
    return right | {(folder, "wrong"): mistakes.mistakes(folder)[0].source for folder in (SOFTMAX, CONTEXT)}


def gradebook(students: list[str]) -> str:
    """Canvas' export: two assignments, one of which is called otherwise, and an excused student."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *TITLES.values(), "Final Score"])
    writer.writerow(["    Points Possible", "", "", "", "", "6", "7", "(read only)"])
    for id in students:
        scores = ["EX", ""] if id == "4199" else ["", ""]
        writer.writerow([f"Last{id}, First", id, f"S{id}", f"u{id}@x.edu", "A", *scores, "0"])
    return text.getvalue()


def week_one(id: str) -> str | None:
    """The first attempt at the first assignment: the last twenty hand in nothing."""
    number = int(id) - 4000
    return None if number >= 180 else "wrong" if number % 3 == 0 else "right"


def is_late(id: str) -> bool:
    return int(id) % 17 == 0


def tries_again(id: str) -> bool:
    return week_one(id) == "wrong" and int(id) % 2 == 0


def second(id: str) -> str:
    """The attempt at the second assignment."""
    return "wrong" if int(id) % 5 == 0 else "right"


def download(path: Path, folder: str, handed_in: dict[str, tuple[str, bool, str]]) -> None:
    """A zip as Canvas makes it. handed_in: student → which text, whether late, the revision in the file's name."""
    texts = sources()
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for number, (id, (which, late, revision)) in enumerate(handed_in.items(), 70000):
            name = f"last{id}first_{'LATE_' * late}{id}_{number}_{folder[3:]}{revision}.py"
            archive.writestr(name, texts[folder, which])


@pytest.fixture
def term(fork_server, said, tmp_path, monkeypatch):
    """`term("week1")` grades this download; `term.here` is the judge."""
    here = Here(fork_server)
    monkeypatch.setattr(run, "executor_of", here)
    monkeypatch.setattr(run.similar, "pairs", lambda handins, jobs: [])

    def work(folder: str, *options: str):
        rules = ("--roster", "gradebook.csv", "--out", "out", *options)
        return said("grade", tmp_path / folder, *rules, cwd=tmp_path)

    work.here = here
    return work


def table(path: Path) -> dict[str, dict[str, str]]:
    return {row["student"]: row for row in csv.DictReader(io.StringIO(path.read_text(), newline=""))}


def raw_points(fork_server, broken: str = "") -> dict[tuple[str, str], float]:
    """The points of each text, straight from the judge. broken: the id of a check that nobody passes."""
    found = {}
    for (folder, which), source in sources().items():
        submission = Submission(source, f"{folder[3:]}.py")
        result = examiner.grade(catalog.find(folder), submission, fork_server, examiner.Settings(seed=5, reveal=False))
        found[folder, which] = sum(check.points for check in result.checks if check.id != broken)
    return found


def deducted(points: float, days: int) -> float:
    return round(points * (1 - PENALTY[days]), 6)


def days_late(id: str) -> int:
    """In the first assignment: Canvas' mark counts as a day, handed_in.csv is exact, an extension lifts it."""
    if id == "4029":
        return 0
    return DAYS.get(id, 1) if is_late(id) else 0


def expected(id: str, points: dict[tuple[str, str], float], week: int) -> tuple[float | None, float | None]:
    """The points of both assignments after a week, by a calculation of its own."""
    first = None
    if (which := week_one(id)) is not None and id != JOINER:
        first = deducted(points[SOFTMAX, which], days_late(id))
        if week >= 2 and tries_again(id):
            first = max(first, deducted(points[SOFTMAX, "right"], 1 if id != "4029" else 0))  # all of them come late
    if id == JOINER and week >= 2:
        first = deducted(points[SOFTMAX, "right"], 1)
    other = points[CONTEXT, second(id)] if week >= 2 else None
    if week >= 3 and id in OVERRIDES:
        other = OVERRIDES[id]
    return first, other


def test_a_term(term, said, fork_server, tmp_path, monkeypatch):
    first_check = next(iter(catalog.find(SOFTMAX).points))
    (tmp_path / "course.toml").write_text(RULES)
    (tmp_path / "handed_in.csv").write_text(
        "student,exercise,time\n4046,02,2026-11-08 11:00\n4063,02,2026-11-10 11:00\n"
    )

    # Week one: a check of the first exercise is broken and fails everybody.
    own = version.exercise
    monkeypatch.setattr(version, "exercise", lambda folder: own(folder) + " broken" * (folder == SOFTMAX))

    def broken(result):
        checks = [replace(c, points=0.0, outcome="failed") if c.id == first_check else c for c in result.checks]
        return replace(result, checks=tuple(checks), status="failed") if result.exercise == SOFTMAX else result

    term.here.changed = broken
    (tmp_path / "gradebook.csv").write_text(gradebook(STUDENTS))
    one = {id: (which, is_late(id), "") for id in STUDENTS if (which := week_one(id))}
    download(tmp_path / "week1/submissions.zip", SOFTMAX, one)
    done = term("week1")
    assert done.returncode == 0, done.stderr
    points = raw_points(fork_server, first_check)
    rows = table(tmp_path / "out/grades.csv")
    assert list(rows) == STUDENTS
    for id in STUDENTS:
        first, _ = expected(id, points, 1)
        assert rows[id][SOFTMAX] == ("" if first is None else f"{first:g}"), id
        assert bool(rows[id]["late"]) == (week_one(id) is not None and days_late(id) > 0), id
    assert term.here.seen == [SOFTMAX, SOFTMAX]  # 180 files, two texts

    # Week two: the check is mended, the second assignment comes, some try again, one leaves, one joins.
    monkeypatch.setattr(version, "exercise", own)
    term.here.changed = lambda result: result
    class_now = [id for id in STUDENTS if id != LEAVER] + [JOINER]
    (tmp_path / "gradebook.csv").write_text(gradebook(class_now))
    two = {id: ("right", True, "-1") if tries_again(id) else kept for id, kept in one.items() if id != LEAVER}
    download(tmp_path / "week2/submissions.zip", SOFTMAX, two | {JOINER: ("right", True, "")})
    download(tmp_path / "week2/submissions (1).zip", CONTEXT, {id: (second(id), False, "") for id in class_now})
    before = (tmp_path / "out/grades.csv").read_bytes()
    done = term("week2")
    assert done.returncode == 2 and f"1 student would lose their row: {LEAVER}" in done.stderr
    assert (tmp_path / "out/grades.csv").read_bytes() == before
    done = term("week2", "--drop")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / f"out/left/{LEAVER}/result.json").exists()
    points = raw_points(fork_server)
    check(tmp_path, class_now, points, 2)
    assert sorted(term.here.seen[2:]) == [SOFTMAX, SOFTMAX, CONTEXT, CONTEXT]  # only the mended exercise again
    changes = csv.DictReader(io.StringIO((tmp_path / "out/changes.csv").read_text(), newline=""))
    whys = {row["student"]: row["why"] for row in changes if row["exercise"] == SOFTMAX}
    assert whys["4001"] == "check changed" and whys[JOINER] == "new hand-in"

    # Week three: nothing new but five overrides and a comment.
    lines = [f"{id},03,{given},seen in person,me" for id, given in OVERRIDES.items()]
    (tmp_path / "overrides.csv").write_text("\n".join(["student,exercise,points,reason,who", *lines]) + "\n")
    (tmp_path / "comments.csv").write_text("student,exercise,comment\n4011,,Come to my office hour.\n")
    judged = len(term.here.seen)
    done = term("week2")
    assert done.returncode == 0, done.stderr
    assert len(term.here.seen) == judged  # rules judge nothing anew
    check(tmp_path, class_now, points, 3)
    assert "Come to my office hour." in (tmp_path / "out/4011/feedback.html").read_text()

    # The gradebook comes back, and the feedback goes out.
    given = list(csv.reader(io.StringIO(gradebook(class_now), newline="")))
    filled = list(csv.reader(io.StringIO((tmp_path / "out/upload/gradebook.csv").read_text(), newline="")))
    for old, new in zip(given[2:], filled[2:], strict=True):
        first, other = expected(old[1], points, 3)
        wanted = old[5] if old[5] == "EX" or first is None else f"{first:g}"
        assert new == [*old[:5], wanted, f"{other:g}", "0"], old[1]
    assert filled[:2] == given[:2]
    assert said("handback", "canvas", "--out", "out", "--release", cwd=tmp_path).returncode == 0
    for folder, count in ((SOFTMAX, len(two) + 1), (CONTEXT, 200)):
        with zipfile.ZipFile(tmp_path / f"out/handback/canvas/{folder}.zip") as archive:
            assert len(archive.namelist()) == count
            assert any(name.startswith("last4000first_") for name in archive.namelist())


def check(root: Path, students: list[str], points: dict[tuple[str, str], float], week: int) -> None:
    """Hold every number of grades.csv against the calculation of its own."""
    rows = table(root / "out/grades.csv")
    assert set(rows) == set(students)
    for id in students:
        first, other = expected(id, points, week)
        assert rows[id][SOFTMAX] == ("" if first is None else f"{first:g}"), id
        assert rows[id][CONTEXT] == f"{other:g}", id
        assert float(rows[id]["total"]) == pytest.approx((first or 0) + 2 * other), id
        assert rows[id]["max"] == "20"
        assert ("set by hand" in rows[id]["note"]) == (week == 3 and id in OVERRIDES), id
