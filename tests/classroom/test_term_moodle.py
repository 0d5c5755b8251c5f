"""The made-up term with Moodle's files: worksheets, numbers that belong to the assignment, feedback as a zip."""

import csv
import io
import re
import zipfile
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

import a_term
import pytest
from a_term import CONTEXT, JOINER, LEAVER, NUMBERS, OVERRIDES, SOFTMAX, WEIGHT
from in_this_process import Here
from thorough import nightly

from grader import catalog
from grader.classroom import run

NAMES = {SOFTMAX: "CS1-02 Softmax-402", CONTEXT: "CS1-Homework two-403"}
LOCKED = 21  # a student whose grade a person has locked in Moodle
COLUMNS = (
    "Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed",
    "Last modified (submission)", "Last modified (grade)", "Feedback comments",
)  # fmt: skip


def id_of(number: int) -> str:
    return f"s{number}@x.edu"


def participant(number: int, folder: str) -> int:
    """The number in a folder's name. It belongs to the assignment: in the other one the student has another."""
    return 1000 + number if folder == SOFTMAX else 2000 - number


def stamp(time: datetime) -> str:
    """A time as Moodle shows it in English."""
    return time.strftime("%A, %d %B %Y, %I:%M %p")


@dataclass
class Moodle:
    """What Moodle holds. grades: by assignment and participant, the text of the grade and when it was last changed."""

    grades: dict[tuple[str, int], tuple[str, datetime]]
    now: datetime

    def worksheet(self, folder: str, numbers: list[int], week: int) -> str:
        """The grading worksheet of an assignment."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\r\n")
        writer.writerow(COLUMNS)
        for number in numbers:
            tried = a_term.tries(number, folder, week)
            grade, changed = self.grades.get((folder, participant(number, folder)), ("", None))
            row = [f"Participant {participant(number, folder)}", f"Ada Nr{number}", id_of(number), "Submitted", grade]
            row += [f"{catalog.find(folder).max_points:.2f}", "No" if number == LOCKED else "Yes"]
            writer.writerow([*row, stamp(tried[-1].time) if tried else "-", stamp(changed) if changed else "-", ""])
        return "\ufeff" + text.getvalue()

    def upload(self, folder: str, text: str) -> int:
        """Take a worksheet as importgradeslib.php and its caller do. Returns how many grades changed."""
        changed = 0
        for row in csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")):
            key = folder, int(row["Identifier"].removeprefix("Participant "))
            grade, before = self.grades.get(key, ("", None))
            try:
                modified = datetime.strptime(row["Last modified (grade)"], "%Y-%m-%dT%H:%M:%S%z")
            except ValueError:  # as it was downloaded, or "-"
                modified = datetime(1970, 1, 1, tzinfo=timezone.utc)
            is_newer = before is not None and before > modified + timedelta(minutes=1)
            if row["Grade"] in ("", "-", grade) or row["Grade can be changed"] == "No" or is_newer:
                continue
            assert 0 <= float(row["Grade"]) <= float(row["Maximum Grade"])
            self.grades[key] = row["Grade"], self.now
            changed += 1
        return changed


def download(path: Path, folder: str, numbers: list[int], week: int) -> None:
    """A zip as Moodle makes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for number in numbers:
            if tried := a_term.tries(number, folder, week):
                entry = f"Ada Nr{number}_{participant(number, folder)}_assignsubmission_file_"
                archive.writestr(f"{entry}/{folder[3:]}.py", a_term.source(folder, tried[-1].text))


@pytest.fixture
def term(fork_server, said, tmp_path, monkeypatch):
    """`term(week, numbers, folders)` lays what Moodle hands out, and grades it."""
    monkeypatch.setattr(run, "executor_of", Here(fork_server))
    monkeypatch.setattr(run.similar, "pairs", lambda handins, jobs: [])
    (tmp_path / "roster").mkdir()

    def work(moodle: Moodle, week: int, numbers: list[int], worksheets: tuple[str, ...], *options: str):
        for folder in (SOFTMAX, CONTEXT)[: 1 if week == 1 else 2]:
            download(tmp_path / f"week{week}/{NAMES[folder]}.zip", folder, numbers, week)
            if folder in worksheets:
                sheet = tmp_path / f"roster/Grades-{NAMES[folder]}.csv"
                sheet.write_text(moodle.worksheet(folder, numbers, week), "utf-8", newline="")
        done = said("grade", tmp_path / f"week{week}", "--roster", "roster", "--out", "out", *options, cwd=tmp_path)
        assert done.returncode == 0, done.stderr

    return work


@nightly
def test_a_term(term, said, tmp_path):
    columns = f'[columns]\n"Grades-{NAMES[CONTEXT]}.csv" = "03"\n'
    (tmp_path / "course.toml").write_text(a_term.rules(id_of, 'attempts = "best"') + columns)
    moodle = Moodle({}, datetime.now(timezone.utc))

    term(moodle, 1, NUMBERS, (SOFTMAX,))
    check(tmp_path, NUMBERS, 1)
    assert upload(tmp_path, moodle, SOFTMAX) == sum(number < 180 for number in NUMBERS) - 1  # all but the locked one

    class_now = [number for number in NUMBERS if number != LEAVER] + [JOINER]
    term(moodle, 2, class_now, (SOFTMAX, CONTEXT), "--drop")
    check(tmp_path, class_now, 2)
    assert (tmp_path / f"out/left/{id_of(LEAVER)}").is_dir()
    better = [n for n in class_now if n != LOCKED and expected(n, SOFTMAX, 2) != expected(n, SOFTMAX, 1)]
    assert JOINER in better and upload(tmp_path, moodle, SOFTMAX) == len(better) > 20
    assert upload(tmp_path, moodle, CONTEXT) == len(class_now) - 1

    # Week three: the first assignment's worksheet is the one of week two, older than Moodle's grades.
    (tmp_path / "overrides.csv").write_text(a_term.overrides(id_of))
    (tmp_path / "comments").mkdir()
    (tmp_path / f"comments/{id_of(11)}.md").write_text("Come to my *office hour*.\n")
    term(moodle, 3, class_now, (CONTEXT,))
    check(tmp_path, class_now, 3)
    assert upload(tmp_path, moodle, SOFTMAX) == 1
    assert upload(tmp_path, moodle, CONTEXT) == len(
        [n for n in class_now if n != LOCKED and expected(n, CONTEXT, 3) != expected(n, CONTEXT, 2)]
    )
    for folder in NAMES:
        held = {key[1]: float(grade) for key, (grade, _) in moodle.grades.items() if key[0] == folder}
        wanted = {participant(n, folder): expected(n, folder, 3) for n in class_now if n != LOCKED}
        held.pop(participant(LEAVER, folder), None)  # Moodle keeps what it has of who left
        assert held == {number: points for number, points in wanted.items() if points is not None}

    # The feedback goes out: each page to the participant whose it is.
    assert said("handback", "moodle", "--out", "out", "--release", cwd=tmp_path).returncode == 0
    for folder in NAMES:
        handed_in = [number for number in class_now if a_term.tries(number, folder, 3)]
        with zipfile.ZipFile(tmp_path / f"out/handback/moodle/{folder}.zip") as archive:
            pages = {name: archive.read(name).decode() for name in archive.namelist()}
        assert set(pages) == {
            f"Ada Nr{n}_{participant(n, folder)}_assignsubmission_file_/feedback_{folder}.html" for n in handed_in
        }
        for name, page in pages.items():
            assert re.findall(r"Ada Nr\d+", page)[:1] == [name.split("_")[0]]
            assert ("office hour" in page) == (name.startswith("Ada Nr11_"))


def expected(number: int, folder: str, week: int) -> float | None:
    return a_term.expected(number, folder, week)


def upload(root: Path, moodle: Moodle, folder: str) -> int:
    """The filled worksheet goes to Moodle, with the titles and the form in which it came."""
    given, filled = (root / place / f"Grades-{NAMES[folder]}.csv" for place in ("roster", "out/upload"))
    before, after = given.read_text("utf-8"), filled.read_bytes().decode()
    assert after.split("\r\n")[0] == "\ufeff" + ",".join(COLUMNS) and after.count("\r\n") == before.count("\n")
    return moodle.upload(folder, after)


def check(root: Path, numbers: list[int], week: int) -> None:
    """Hold every number of grades.csv against the calculation of its own."""
    rows = a_term.table(root / "out/grades.csv")
    assert set(rows) == set(map(id_of, numbers))
    for number in numbers:
        row = rows[id_of(number)]
        points = {folder: expected(number, folder, week) for folder in NAMES if week > 1 or folder == SOFTMAX}
        assert {folder: row[folder] for folder in points} == {f: a_term.shown(p) for f, p in points.items()}, number
        assert float(row["total"]) == pytest.approx(sum((points[f] or 0) * WEIGHT[f] for f in points)), number
        assert ("set by hand" in row["note"]) == (week == 3 and number in {who for who, _ in OVERRIDES}), number
