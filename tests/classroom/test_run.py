"""A class is graded: three shapes against a known truth, broken uploads, names.csv and LIST, going on after a kill."""

import csv
import functools
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import a_class
import pytest
from thorough import THOROUGH, nightly, sample
from waiting import gone, soon

from grader.catalog import mistakes, paths, stubs
from grader.classroom import pool, versions
from grader.classroom.store import NAME, Store
from grader.records.submission import Submission

pytestmark = pytest.mark.slow

CONTEXT = "03_context_vectors"
RIGHT = paths.solution(CONTEXT).read_text("utf-8")
WRONG = mistakes.mistakes(CONTEXT)[0].source


@pytest.fixture
def run(here, said, tmp_path):
    """`run("in", …)` grades what lies in a folder of the test."""

    def run(*words: object):
        return said("grade", *words, cwd=tmp_path)

    return run


def lay(root: Path, files: dict[str, str | bytes]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)


def rows(out: Path, name: str = "marks.csv") -> list[dict[str, str]]:
    with (out / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("shape", sample(a_class.LAYOUTS, 1))
def test_a_class_in_each_shape_has_the_marks_that_it_must_have(run, fork_server, tmp_path, shape):
    download, people = a_class.lay(shape, tmp_path / "class", 10)
    column = ["--column", "id=Matrikelnummer"] * (shape == "folders")
    done = run(download, "--ex", ",".join(name[:2] for name in a_class.EXERCISES), "--students", people, *column)
    assert done.returncode == 0, done.stderr
    assert a_class.marks_of(tmp_path / "results") == a_class.truth(10, fork_server)
    wide = {(row["student"], name): float(row[name]) if row[name] else None
            for row in rows(tmp_path / "results", "grades.csv") for name in a_class.EXERCISES}  # fmt: skip
    assert wide == a_class.truth(10, fork_server)


def test_what_lies_in_results(run, tmp_path):
    os.umask(0o022)
    lay(tmp_path / "in", {"ada/context_vectors.py": WRONG, "Ben_7_assignsubmission_file_/03.py": RIGHT})
    assert run("in", "--ex", "03").returncode == 0
    out = tmp_path / "results"
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()) == [
        ".gitignore", NAME, "class.html", f"feedback/Ben_7_assignsubmission_file_/feedback_{CONTEXT}.html",
        f"feedback/ada/feedback_{CONTEXT}.html", "grades.csv", "json/7.json", "json/ada.json", "marks.csv",
    ]  # fmt: skip
    assert {stat.S_IMODE(path.stat().st_mode) for path in (out, *out.rglob("*")) if path.is_dir()} == {0o700}
    assert {stat.S_IMODE(path.stat().st_mode) for path in out.rglob("*") if path.is_file()} == {0o600}
    for name in ("class.html", f"feedback/ada/feedback_{CONTEXT}.html", "json/ada.json", "marks.csv", "grades.csv"):
        assert versions.shown() in (out / name).read_text("utf-8"), name
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.html")}
    assert run("in", "--ex", "03").returncode == 0
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.html")} == before
    with Store.existing(out) as store:  # from which another program takes results
        found = store.find(CONTEXT, Submission(RIGHT, "whatever.py"))
        assert found is not None and found.points == 7.0 and found.sandbox is not None
        assert store.find(CONTEXT, Submission(RIGHT + " ", "whatever.py")) is None
        assert store.find("02_softmax_naive", Submission(RIGHT, "whatever.py")) is None


def notebook(*cells: tuple[str, str]) -> str:
    return json.dumps({"cells": [{"cell_type": kind, "source": text, "metadata": {}} for kind, text in cells]})


BROKEN = {
    "cut.ipynb": notebook(("code", RIGHT))[:-40],
    "empty.ipynb": b"",
    "garbage.ipynb": b"garbage",
    "no_code.ipynb": notebook(("markdown", "my answer")),
    "markdown.ipynb": notebook(("markdown", RIGHT)),
    "beside.ipynb": notebook(("code", "import torch"), ("raw", f"```python\n{RIGHT}\n```")),
    "merge.ipynb": '<<<<<<< HEAD\n{"cells": []}\n=======\n{"cells": []}\n>>>>>>> mine\n',
    "merge.py": f"<<<<<<< HEAD\n{RIGHT}\n=======\n{WRONG}\n>>>>>>> mine\n",
    "empty.py": b"",
    "utf16.py": RIGHT.encode("utf-16"),
}


def test_a_broken_upload_is_no_answer(run, tmp_path):
    for name, data in BROKEN.items():
        lay(tmp_path / "in", {f"{name.replace('.', '-')}/context_vectors.{name.partition('.')[2]}": data})
    lay(tmp_path / "in", {"good/context_vectors.py": RIGHT, "stub/context_vectors.py": stubs.original(CONTEXT) or ""})
    done = run("in")
    assert done.returncode == 3
    lines = {row["student"]: row for row in rows(tmp_path / "results")}
    broken = [row for student, row in lines.items() if student not in ("good", "stub")]
    assert {(row["status"], row["points"]) for row in broken} == {("needs a person", "")}
    assert len(lines) == len(BROKEN) + 2
    assert (lines["good"]["points"], lines["stub"]["points"], lines["stub"]["status"]) == ("7", "0", "not begun")
    for student in ("markdown-ipynb", "beside-ipynb"):
        assert "then y, to make it a code cell again" in lines[student]["note"]
    assert "conflict" in lines["merge-py"]["note"]
    page = (tmp_path / "results/class.html").read_text("utf-8")
    assert page.index("Needs a person") < page.index("What to teach again") and "then y" in page
    assert "needs a person: " in done.stderr and "what to do: " in done.stderr


def test_names_csv_places_what_nobody_may_guess(run, tmp_path):
    lay(tmp_path / "in", {"ada/context_vectors.py": WRONG, "Ada/context_vectors.py": RIGHT, "ctx.py": RIGHT})
    lay(tmp_path / "in", {"dan/mystery.py": RIGHT, "eve/context_vectors.py": RIGHT})
    assert run("in").returncode == 3
    waiting = {row["file"]: row["note"] for row in rows(tmp_path / "results") if row["status"] == "needs a person"}
    assert set(waiting) == {"ada", "Ada", "ctx.py", "dan/mystery.py"}
    assert 'names.csv: "ctx.py",STUDENT' in waiting["ctx.py"]
    (tmp_path / "names.csv").write_text(
        "found,student,exercise\nada,ada1,\nAda,ada2,\nctx.py,cyd,03\ndan/mystery.py,dan,03\n"
    )
    done = run("in", "--names", "names.csv")
    assert done.returncode == 0, done.stderr
    assert {row["student"]: row["status"] for row in rows(tmp_path / "results")} == dict.fromkeys(
        ("ada1", "ada2", "cyd", "dan", "eve"), "graded"
    )
    with (tmp_path / "names.csv").open("a") as names:
        names.write("not/there.py,bob,03\n")
    assert run("in", "--names", "names.csv").returncode == 3
    (lost,) = (row for row in rows(tmp_path / "results") if row["status"] == "needs a person")
    assert lost["file"] == "not/there.py" and "names.csv" in lost["note"]


def test_students_are_those_of_list(run, tmp_path):
    lay(
        tmp_path / "in", {"ada@x.edu/03.py": RIGHT, "Zoë Zett/03.py": RIGHT, "Kim Lee/03.py": RIGHT, "who/03.py": RIGHT}
    )
    (tmp_path / "list.csv").write_text(
        'id,name,email\n1,Ada Lovelace,ada@x.edu\n2,"Zett, Zoë",z@x.edu\n'
        "3,Kim Lee,k@x.edu\n4,Kim Lee,l@x.edu\n5,Idle One,i@x.edu\n",
        "utf-8",
    )
    done = run("in", "--ex", "03", "--students", "list.csv")
    assert done.returncode == 3
    found = {row["file"] or row["student"]: row["status"] for row in rows(tmp_path / "results")}
    assert found["ada@x.edu/03.py"] == found["Zoë Zett/03.py"] == "graded"
    assert found["Kim Lee"] == found["who"] == "needs a person" and found["5"] == "nothing handed in"
    notes = {row["file"]: row["note"] for row in rows(tmp_path / "results")}
    assert "may be several of LIST: 3, 4" in notes["Kim Lee"] and "LIST names nobody like who" in notes["who"]
    (tmp_path / "names.csv").write_text("found,student\nKim Lee,4\nwho,3\n")
    assert run("in", "--ex", "03", "--students", "list.csv", "--names", "names.csv").returncode == 0


def test_other_students_are_refused_and_nothing_is_changed(run, tmp_path):
    lay(tmp_path / "one", {"ada/context_vectors.py": RIGHT, "ben/context_vectors.py": WRONG})
    lay(tmp_path / "two", {"cyd/context_vectors.py": RIGHT})
    lay(tmp_path / "less", {"ada/context_vectors.py": RIGHT})
    assert run("one").returncode == 0
    before = {
        path: path.read_bytes() for path in (tmp_path / "results").rglob("*") if path.is_file() and path.name != NAME
    }
    with Store.existing(tmp_path / "results") as store:
        entries = store.entries()
    for other in ("two", "less"):
        done = run(other)
        assert done.returncode == 2 and "Nothing was changed" in done.stderr, done.stderr
    assert {path: path.read_bytes() for path in before} == before
    with Store.existing(tmp_path / "results") as store:
        assert store.entries() == entries
    lay(tmp_path / "one", {"dee/context_vectors.py": RIGHT})  # later hand-ins may come
    assert run("one").returncode == 0 and len(rows(tmp_path / "results")) == 3
    assert run("one", "--out", tmp_path / "one" / "results").returncode == 2


def test_marks_of_two_versions_are_never_mixed(run, here, tmp_path, monkeypatch):
    lay(tmp_path / "in", {"ada/context_vectors.py": RIGHT, "ben/context_vectors.py": WRONG})
    run("in")
    assert len(here.seen) == 2
    lay(tmp_path / "in", {"cyd/context_vectors.py": WRONG + "\n# cyd\n"})
    monkeypatch.setattr(versions, "of_exercise", lambda folder: "another version")
    done = run("in")
    assert "The grader has changed since 2 hand-ins" in done.stderr and len(here.seen) == 5
    assert "The grader has changed" not in run("in").stderr and len(here.seen) == 5


def test_exercises_that_nobody_has_begun_are_left_out_of_clones(run, tmp_path):
    for name in ("ada", "ben"):
        for folder in (CONTEXT, "02_softmax_naive"):
            slug = folder.partition("_")[2]
            lay(
                tmp_path / f"in/hw-{name}",
                {".git/config": "x", f"exercises/{folder}/{slug}.py": stubs.original(folder) or ""},
            )
    lay(tmp_path / "in/hw-ada", {f"exercises/{CONTEXT}/context_vectors.py": RIGHT})
    (tmp_path / "list.csv").write_text("id,name,github\n1,Ada Lovelace,ada\n2,Ben Ö,ben\n", "utf-8")
    done = run("in", "--students", "list.csv")
    assert "Left out, since nobody has begun them: 02" in done.stderr
    found = [
        (row["student"], row["exercise"][:2], row["status"]) for row in rows(tmp_path / "results") if row["exercise"]
    ]
    assert found == [
        ("1", "03", "graded"),
        ("2", "03", "not begun"),
        ("1", "02", "left out"),
        ("2", "02", "left out"),
    ]


def test_a_students_mark_is_explained_call_by_call(run, said, tmp_path):
    lay(tmp_path / "in", {"Ben Ö_7_assignsubmission_file_/03.py": WRONG, "Cy_8_assignsubmission_file_/03.py": RIGHT})
    run("in")
    (tmp_path / "in/Ben Ö_7_assignsubmission_file_/03.py").unlink()  # the source is kept
    for name in ("7", "ben ö", "Ben Ö_7_assignsubmission_file_"):
        done = said("explain", name, cwd=tmp_path)
        assert done.returncode == 0 and "The same as in the folder." in done.stdout, done.stderr
    assert "called   attention_weights(tensor" in done.stdout and "6.75 of 7 points" in done.stdout
    assert "knows nobody called eve" in said("explain", "eve", "03", cwd=tmp_path).stderr
    assert "no graded hand-in of 02" in said("explain", "7", "02", cwd=tmp_path).stderr


@pytest.fixture(scope="module")
def scheduler():
    """The address of a real Dask cluster, which takes seconds to start."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed (extra classroom)")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


def test_a_dask_cluster_grades_as_one_machine_does(said, scheduler, tmp_path):
    lay(tmp_path / "in", {f"s{n}/context_vectors.py": f"{WRONG if n % 2 else RIGHT}\n# {n}\n" for n in range(10)})
    done = said("grade", tmp_path / "in", "--out", tmp_path / "out", "--dask", scheduler)
    assert done.returncode == 0, done.stderr
    assert [row["points"] for row in rows(tmp_path / "out")].count("7") == 5 and len(rows(tmp_path / "out")) == 10
    done = said("grade", tmp_path / "in", "--out", tmp_path / "out", "--dask", scheduler)
    assert "Nothing to grade" in done.stderr
    done = said("grade", tmp_path / "in", "--out", tmp_path / "other", "--dask", tmp_path / "no.json")
    assert done.returncode == 2 and "There is no scheduler file" in done.stderr


@pytest.mark.parametrize("dask", [False, pytest.param(True, marks=nightly)])
def test_a_run_that_is_killed_goes_on_and_gives_the_same_bytes(request, said, fork_server, tmp_path, dask):
    count, kills = (30, 3) if THOROUGH else (10, 1)
    download, people = a_class.lay("folders", tmp_path / "class", count)
    more = ["--dask", request.getfixturevalue("scheduler")] if dask else []
    words = ["grade", download, "--students", people, "--column", "id=Matrikelnummer", "--seed", "7", *more, "--out"]
    command = [sys.executable, "-m", "grader", *map(str, words), tmp_path / "killed"]
    for kill in range(kills):
        process = subprocess.Popen(command, cwd=paths.ROOT, stderr=subprocess.DEVNULL)
        soon(functools.partial(_holds, tmp_path / "killed", 5 * (kill + 1)), 300)
        workers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.kill()
        process.wait()
        assert process.returncode == -signal.SIGKILL and (workers or dask) and gone(*map(int, workers))
    if not dask:
        request.getfixturevalue("here")
    for out in ("killed", "whole"):
        assert said(*words, tmp_path / out).returncode == 0
    assert a_class.marks_of(tmp_path / "killed") == a_class.truth(count, fork_server)
    kept = {path.relative_to(tmp_path / "whole"): path for path in (tmp_path / "whole").rglob("*") if path.is_file()}
    for name, path in kept.items():
        if name.name not in (NAME,) and name.suffix != ".json":  # which hold how long each call took
            assert (tmp_path / "killed" / name).read_bytes() == path.read_bytes(), name


def _holds(out: Path, count: int) -> bool:
    """Whether a store holds some so many results, while another process writes it."""
    try:
        return (out / f"{NAME}-wal").stat().st_size // 8_000 >= count
    except OSError:
        return False


def test_a_process_for_which_no_work_is_left_ends_in_silence():
    here, there = socket.socketpair()
    with here, there:
        here.shutdown(socket.SHUT_RDWR)
        command = [sys.executable, "-c", pool.START, paths.ROOT, str(there.fileno())]
        done = subprocess.run(command, pass_fds=[there.fileno()], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_zip_of_feedback_is_what_moodle_takes(run, tmp_path):
    with zipfile.ZipFile(tmp_path / "CS1-03 Context vectors-9.zip", "w") as packed:
        packed.writestr("Ada Lovelace_101_assignsubmission_file_/mine.py", RIGHT)
        packed.writestr("Bo_b_102_assignsubmission_file_mine.py", RIGHT)
    assert run("CS1-03 Context vectors-9.zip").returncode == 0
    folders = {path.parent.name for path in (tmp_path / "results/feedback").rglob("*.html")}
    assert folders == {"Ada Lovelace_101_assignsubmission_file_", "Participant_102_assignsubmission_file_"}
