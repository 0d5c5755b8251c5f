"""A made-up term of Canvas: three weekly downloads, graded by the command, each number computed again by hand.

Two assignments, at night of two hundred students; late hand-ins, second attempts, a student who leaves and one who
joins, a check that is fixed in the second week, five overrides, feedback handed back, the gradebook in and out. See
a_term.
"""

import csv
import io
import zipfile
from collections import Counter
from pathlib import Path

import a_term
import pytest
from a_term import CONTEXT, JOINER, LEAVER, NUMBERS, OVERRIDES, SOFTMAX, WEIGHT, Try
from in_this_process import Here

from grader.classroom import run

TITLES = {SOFTMAX: "02 Softmax (902)", CONTEXT: "Homework two (903)"}
EXCUSED = 199
TOLD = (68, 119)  # the times of these two stand in handed_in.csv; of others Canvas tells no more than LATE


def id_of(number: int) -> str:
    return str(4000 + number)


def days(number: int, folder: str, one: Try) -> int:
    """Canvas' mark counts as a day."""
    exact = a_term.days_late(number, folder, one)
    return exact if number in TOLD and folder == SOFTMAX else min(1, exact)


def expected(number: int, folder: str, week: int, broken: str = "") -> float | None:
    return a_term.expected(number, folder, week, broken=broken, days=days)


def gradebook(numbers: list[int]) -> str:
    """Canvas' export: two assignments, one of which is called otherwise, and an excused student."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *TITLES.values(), "Final Score"])
    writer.writerow(["    Points Possible", "", "", "", "", "6", "7", "(read only)"])
    for number in numbers:
        id, scores = id_of(number), ["EX" if number == EXCUSED else "", ""]
        writer.writerow([f"Last{id}, First", id, f"S{id}", f"u{id}@x.edu", "A", *scores, "0"])
    return text.getvalue()


def download(path: Path, folder: str, numbers: list[int], week: int) -> int:
    """A zip as Canvas makes it: of each student the latest file. Returns how many there are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for number in numbers:
            if tried := a_term.tries(number, folder, week):
                late = "LATE_" * (tried[-1].time > a_term.DEADLINE[folder])
                revision = f"-{len(tried) - 1}" if len(tried) > 1 else ""
                name = f"last{id_of(number)}first_{late}{id_of(number)}_{70000 + number}_{folder[3:]}{revision}.py"
                archive.writestr(name, a_term.source(folder, tried[-1].text))
        return len(archive.namelist())


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


def test_a_term(term, said, tmp_path):
    columns = f'[columns]\n"{TITLES[CONTEXT]}" = "03"\n'
    (tmp_path / "course.toml").write_text(a_term.rules(id_of, 'attempts = "best"') + columns)
    times = [f"{id_of(number)},02,{a_term.tries(number, SOFTMAX, 1)[0].time}" for number in TOLD]
    (tmp_path / "handed_in.csv").write_text("\n".join(["student,exercise,time", *times]) + "\n")

    # Week one: a check of the first assignment is wrong, and fails everybody.
    (tmp_path / "gradebook.csv").write_text(gradebook(NUMBERS))
    download(tmp_path / "week1/submissions.zip", SOFTMAX, NUMBERS, 1)
    with a_term.other_checkout(tmp_path / "checkout"):
        broken = a_term.break_a_check(tmp_path / "checkout")
        done = term("week1")
    assert done.returncode == 0, done.stderr
    rows = a_term.table(tmp_path / "out/grades.csv")
    assert list(rows) == [id_of(number) for number in NUMBERS]
    for number in NUMBERS:
        assert rows[id_of(number)][SOFTMAX] == a_term.shown(expected(number, SOFTMAX, 1, broken)), number
        is_late = any(days(number, SOFTMAX, one) for one in a_term.tries(number, SOFTMAX, 1))
        assert bool(rows[id_of(number)]["late"]) == is_late, number
    assert term.here.seen == [SOFTMAX, SOFTMAX]  # many files, two texts

    # Week two: the check is fixed, the second assignment comes, some try again, one leaves, one joins.
    class_now = [number for number in NUMBERS if number != LEAVER] + [JOINER]
    (tmp_path / "gradebook.csv").write_text(gradebook(class_now))
    download(tmp_path / "week2/submissions.zip", SOFTMAX, class_now, 2)
    download(tmp_path / "week2/submissions (1).zip", CONTEXT, class_now, 2)
    before = (tmp_path / "out/grades.csv").read_bytes()
    done = term("week2")
    assert done.returncode == 2 and f"1 student would lose their row: {id_of(LEAVER)}" in done.stderr
    assert (tmp_path / "out/grades.csv").read_bytes() == before
    done = term("week2", "--drop")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / f"out/left/{id_of(LEAVER)}/result.json").exists()
    check(tmp_path, class_now, 2)
    assert sorted(term.here.seen[2:]) == [SOFTMAX, SOFTMAX, CONTEXT, CONTEXT]  # the fixed exercise, and the new one
    changes = csv.DictReader(io.StringIO((tmp_path / "out/changes.csv").read_text(), newline=""))
    whys = {row["student"]: row["why"] for row in changes if row["exercise"] == SOFTMAX}
    assert whys[id_of(1)] == "check changed" and whys[id_of(JOINER)] == "new hand-in"

    # Week three: a third download with further attempts, five overrides and a comment.
    download(tmp_path / "week3/submissions.zip", SOFTMAX, class_now, 3)
    download(tmp_path / "week3/submissions (1).zip", CONTEXT, class_now, 3)
    (tmp_path / "overrides.csv").write_text(a_term.overrides(id_of))
    (tmp_path / "comments.csv").write_text(f"student,exercise,comment\n{id_of(11)},,Come to my office hour.\n")
    done = term("week3")
    assert done.returncode == 0, done.stderr
    assert term.here.seen[6:] == [CONTEXT]  # one new text; rules judge nothing anew
    check(tmp_path, class_now, 3)
    assert "Come to my office hour." in (tmp_path / f"out/{id_of(11)}/feedback.html").read_text()

    # The gradebook comes back, and the feedback goes out.
    given = list(csv.reader(io.StringIO(gradebook(class_now), newline="")))
    filled = list(csv.reader(io.StringIO((tmp_path / "out/upload/gradebook.csv").read_text(), newline="")))
    for number, old, new in zip(class_now, given[2:], filled[2:], strict=True):
        points = [a_term.shown(expected(number, folder, 3)) for folder in (SOFTMAX, CONTEXT)]
        assert new == [*old[:5], old[5] or points[0], points[1], "0"], number
    assert filled[:2] == given[:2]
    assert said("handback", "canvas", "--out", "out", "--release", cwd=tmp_path).returncode == 0
    for folder in (SOFTMAX, CONTEXT):
        with zipfile.ZipFile(tmp_path / f"out/handback/canvas/{folder}.zip") as archive:
            users = Counter(next(part for part in name.split("_") if part.isdigit()) for name in archive.namelist())
        assert users == Counter(id_of(number) for number in class_now if a_term.tries(number, folder, 3))


def check(root: Path, numbers: list[int], week: int) -> None:
    """Hold every number of grades.csv against the calculation of its own."""
    rows = a_term.table(root / "out/grades.csv")
    assert set(rows) == set(map(id_of, numbers))
    for number in numbers:
        row = rows[id_of(number)]
        points = {folder: expected(number, folder, week) for folder in (SOFTMAX, CONTEXT)}
        assert {folder: row[folder] for folder in points} == {f: a_term.shown(p) for f, p in points.items()}, number
        assert float(row["total"]) == pytest.approx(sum((points[f] or 0) * WEIGHT[f] for f in points)), number
        assert row["max"] == "20"
        assert ("set by hand" in row["note"]) == (week == 3 and number in {who for who, _ in OVERRIDES}), number
