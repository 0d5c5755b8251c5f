"""Results are private, and one person can be removed from everything that is kept."""

import csv
import io
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from in_this_process import Here

from grader.catalog import mistakes, paths
from grader.classroom import run

CONTEXT = "03_context_vectors"
RIGHT = paths.solution(CONTEXT).read_text("utf-8")
WRONG = mistakes.mistakes(CONTEXT)[0].source
ROSTER = """id,name,email,03 Context vectors
ada77,Ada Lovelace,ada@x.edu,
bob88,Bob Smith,bob@x.edu,
cyd99,Cyd Ray,cyd@x.edu,
"""


@pytest.fixture
def here(fork_server, monkeypatch) -> Iterator[Here]:
    """Classes are graded in this process."""
    executor = Here(fork_server)
    monkeypatch.setattr(run, "executor_of", executor)
    monkeypatch.setattr(run.similar, "pairs", lambda handins, jobs: [])
    yield executor


@pytest.fixture
def course(here, said, tmp_path):
    """A course of three after two rounds, with a file of every kind that names Ada."""
    lay(
        tmp_path,
        "course.toml",
        'attempts = "best"\nroster = "roster.csv"\n[extensions]\n"ada77" = { "03" = 2026-11-30 }\n',
    )
    lay(tmp_path, "roster.csv", ROSTER)
    lay(
        tmp_path,
        "overrides.csv",
        "student,exercise,check,points,reason,who\nada77,02,,1,oral,me\nbob88,02,,2,oral,me\n",
    )
    lay(tmp_path, "comments.csv", "student,exercise,comment\nada77,03,Well done.\nbob88,03,Good.\n")
    lay(tmp_path, "comments/ada77.md", "See me.\n")
    lay(tmp_path, "handed_in.csv", "student,exercise,time\nada77,03,2026-11-20 10:00\n")
    for source in (WRONG, RIGHT):
        for number, name in enumerate(("ada77", "Bob Smith", "cyd99", "A. Lovelace")):
            lay(tmp_path, f"in/{name}/context_vectors.py", f"{source}\n# by {name}\n" if number != 2 else source)
        assert grade(said, tmp_path).returncode == 3  # A. Lovelace waits
    assert said("handback", "folder", "--release", cwd=tmp_path).returncode == 0
    return tmp_path


def lay(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, "utf-8")


def grade(said, root: Path, *options: str) -> subprocess.CompletedProcess:
    return said("grade", "in", "--anonymous", "--log", "run.jsonl", *options, cwd=root)


def modes(root: Path) -> set[str]:
    """The modes of all that lies in a folder, the folder first among them."""
    return {stat.filemode(path.lstat().st_mode) for path in (root, *root.rglob("*"))}


def test_results_are_for_their_owner_alone(course):
    assert modes(course / "results") == {"drwx------", "-rw-------"}
    for name in ("aliases.csv", "run.jsonl"):
        assert stat.filemode((course / name).stat().st_mode) == "-rw-------"


def test_results_of_an_earlier_version_become_private(course, said):
    for path in (course / "results", *(course / "results").rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    grade(said, course)
    assert said("handback", "folder", "--release", cwd=course).returncode == 0
    assert modes(course / "results") == {"drwx------", "-rw-------"}


def test_a_folder_that_a_group_shares_stays_shared(here, said, tmp_path):
    lay(tmp_path, "in/ada77/context_vectors.py", RIGHT)
    (tmp_path / "results").mkdir()
    (tmp_path / "results").chmod(0o2770)
    grade(said, tmp_path)
    (tmp_path / "results/ada77/feedback.html").chmod(0o644)
    grade(said, tmp_path)
    assert stat.filemode((tmp_path / "results").stat().st_mode) == "drwxrws---"
    assert stat.filemode((tmp_path / "results/ada77/feedback.html").stat().st_mode) == "-rw-r-----"


def test_forget_removes_one_person_everywhere(course, said):
    done = said("forget", "ada77", cwd=course)
    assert done.returncode == 0, done.stderr
    for path in kept(course):
        if path.name not in ("roster.csv", "course.toml", "run.jsonl"):
            assert not any(name in path.read_bytes() for name in (b"ada77", b"Ada Lovelace", b"ada@x.edu")), path
            assert "ada77" not in path.parts
    assert "roster.csv, line 2" in done.stdout and "[extensions]" in done.stdout and "1 line" in done.stdout
    for name in (
        "overrides.csv",
        "comments.csv",
        "comments/ada77.md",
        "handed_in.csv",
        "class.html",
        "upload",
        "handback",
    ):
        assert name in done.stdout
    assert {row["student"] for row in rows(course / "results/grades.csv")} == {"bob88", "cyd99"}
    assert modes(course / "results") == {"drwx------", "-rw-------"}


def test_the_class_goes_on_without_who_was_forgotten(course, said):
    assert said("forget", "ada77", cwd=course).returncode == 0
    lay(course, "roster.csv", ROSTER.replace("ada77,Ada Lovelace,ada@x.edu,\n", ""))
    lay(course, "course.toml", 'attempts = "best"\nroster = "roster.csv"\n')
    lay(course, "aliases.csv", "found,name,student,could be\nA. Lovelace,A. Lovelace,-,\nada77,ada77,-,\n")
    done = grade(said, course)
    assert done.returncode == 0 and "0 gradings" in done.stderr, done.stderr  # what others handed in keeps its result
    assert {row["student"]: row[CONTEXT] for row in rows(course / "results/grades.csv")} == {"bob88": "7", "cyd99": "7"}
    again = said("forget", "ada77", cwd=course)
    assert again.returncode == 2 and "knows no student ada77" in again.stderr


def kept(course: Path) -> list[Path]:
    """All files of the course but the downloads."""
    files = [path for path in course.rglob("*") if path.is_file()]
    return [path for path in files if not path.is_relative_to(course / "in")]


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8"), newline="")))
