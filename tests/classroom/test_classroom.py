"""A whole class, graded for real: fairly, once each, and whatever happens to the grader."""

import contextlib
import csv
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from in_this_process import Here
from thorough import THOROUGH, nightly

from grader import catalog, cli
from grader.catalog import mistakes, paths
from grader.catalog.errors import WrongUse
from grader.classroom import pool, run
from grader.classroom.pool import Order
from grader.classroom.store import NAME, Store
from grader.records.results import Settings
from grader.sandbox.forkserver import ForkServer

EXERCISES = ("02_softmax_naive", "03_context_vectors")
SEED = 11
KILLS = 4 if THOROUGH else 1
STUDENTS = 12 if THOROUGH else 8


def solution(folder: str) -> str:
    return paths.solution(folder).read_text("utf-8")


def hand_in(root: Path, student: str, folder: str, source: str | bytes) -> Path:
    path = root / student / folder / f"{paths.slug(folder)}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(source if isinstance(source, bytes) else source.encode())
    return path


def words(submissions: Path, out: Path, *options, jobs: int = 1) -> list[str]:
    """The words of a command line. jobs: each takes seconds to start."""
    return ["grade", str(submissions), "--out", str(out), "--seed", str(SEED), "--jobs", str(jobs), *map(str, options)]


def command(submissions: Path, out: Path, *options, jobs: int = 1) -> list[str]:
    return [sys.executable, "-m", "grader", *words(submissions, out, *options, jobs=jobs)]


def grade(submissions: Path, out: Path, *options, jobs: int = 1) -> subprocess.CompletedProcess:
    done = subprocess.run(
        command(submissions, out, *options, jobs=jobs), cwd=paths.ROOT, capture_output=True, text=True, timeout=300
    )
    assert "Traceback" not in done.stderr + done.stdout, done.stderr
    return done


def grade_here(fork_server: ForkServer, submissions: Path, out: Path, *options: object) -> int:
    """The same command in this process, with the shared fork server."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "executor_of", Here(fork_server))
        return cli.main(words(submissions, out, *options))


def grades(out: Path) -> dict[str, dict[str, str]]:
    with (out / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def events(log: Path, kind: str) -> list[dict]:
    found = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    return [event for event in found if event["event"] == kind]


def wrong(folder: str, number: int) -> mistakes.Mistake:
    return mistakes.mistakes(folder)[number]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory) -> tuple[Path, Path]:
    """A class with everything in it, graded once: the submissions and the results."""
    root = tmp_path_factory.mktemp("class")
    two, three = EXERCISES
    for student, source in {
        "ada": solution(two),
        "ben": wrong(two, 0).source,
        "cy": solution(two) + "\nwhile True:\n    pass\n",
        "dee": solution(two) + "\nimport os\nos._exit(0)\n",
        "eli": solution(two) + "\nhoard = [bytearray(1 << 20) for _ in range(100_000)]\n",
        "flo": b"\xff\xfe\x00",
        "gus": paths.stub(two).read_text("utf-8"),
    }.items():
        hand_in(root / "in", student, two, source)
        hand_in(root / "in", student, three, solution(three))
    hand_in(root / "in", "hal", three, solution(three))
    done = grade(root / "in", root / "out", "--log", root / "log")
    assert done.returncode == 0, done.stderr
    return root / "in", root / "out"


def test_each_gets_what_the_code_deserves_and_nobody_pays_for_another(mixed):
    _, out = mixed
    rows, (two, three) = grades(out), EXERCISES
    full = {folder: catalog.find(folder).max_points for folder in EXERCISES}
    assert set(rows) == {"ada", "ben", "cy", "dee", "eli", "flo", "gus", "hal"}
    assert all(float(row[three]) == full[three] for row in rows.values())
    assert float(rows["ada"][two]) == full[two]
    assert 0 < float(rows["ben"][two]) < full[two]
    # What fails at top level is left out: the functions before it are there and right.
    assert all(float(rows[student][two]) == full[two] for student in ("cy", "dee", "eli"))
    assert all(float(rows[student][two]) == 0 for student in ("flo", "gus"))
    assert rows["hal"][two] == ""


def test_the_record_names_the_mistake_and_the_sandbox(mixed):
    _, out = mixed
    known = json.loads((out / "ben" / "result.json").read_text("utf-8"))
    result = next(result for result in known["results"] if result["exercise"] == EXERCISES[0])
    sentence = wrong(EXERCISES[0], 0).sentence
    assert sentence in [check["diagnosis"] for check in result["checks"]]
    assert (result["seed"], result["device"]) == (None, "cpu")
    assert result["sandbox"]["tier"] in "AB" and result["sandbox"]["torch"]


def test_equal_files_are_graded_once(mixed):
    _, out = mixed
    graded = events(out.parent / "log", "graded")
    assert len([event for event in graded if event["exercise"] == EXERCISES[1]]) == 1
    assert len({event["key"] for event in graded}) == len(graded)


def test_only_what_changed_is_graded_again(mixed, tmp_path, said, fork_server, monkeypatch):
    submissions, out = (shutil.copytree(folder, tmp_path / folder.name) for folder in mixed)
    before = grades(out)
    monkeypatch.setattr(run, "executor_of", Here(fork_server))
    done = said(*words(submissions, out, "--log", tmp_path / "first"))
    assert "had been graded before" in done.stderr and not events(tmp_path / "first", "graded")
    hand_in(submissions, "gus", EXERCISES[0], solution(EXERCISES[0]) + "\n# at last\n")
    assert said(*words(submissions, out, "--log", tmp_path / "second")).returncode == 0
    assert [event["exercise"] for event in events(tmp_path / "second", "graded")] == [EXERCISES[0]]
    after = grades(out)
    assert float(after["gus"][EXERCISES[0]]) == catalog.find("02").max_points
    assert {name: row for name, row in after.items() if name != "gus"} == {
        k: v for k, v in before.items() if k != "gus"
    }


def test_a_grade_can_be_explained(mixed, said):
    _, out = mixed
    told = said("explain", "ben", "02", "--out", out)
    assert told.returncode == 0, told.stderr
    assert f"seed {SEED}" in told.stdout and "The same as in the folder." in told.stdout
    assert "called   softmax_naive(tensor" in told.stdout and "likely:" in told.stdout
    nobody = said("explain", "zoe", "02", "--out", out)
    assert nobody.returncode == 2 and "Nobody in these results is called zoe" in nobody.stderr


def test_a_folder_serves_one_run_at_a_time(mixed, tmp_path):
    file = Store(tmp_path)
    with pytest.raises(WrongUse, match="another run"):
        Store(tmp_path)
    file.close()
    (tmp_path / NAME).write_bytes(b"no database at all" * 500)
    with pytest.raises(WrongUse, match="damaged"):
        Store(tmp_path)


def class_of(root: Path, students: int) -> Path:
    """Right and wrong ones, each file different by a comment."""
    rng = random.Random(3)
    for number in range(students):
        for folder in EXERCISES:
            wrong_sources = [mistake.source for mistake in mistakes.mistakes(folder)[:6]]
            source = rng.choice([solution(folder), *wrong_sources])
            hand_in(root, f"s{number:03d}", folder, f"{source}\n# {number}\n")
    return root


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, fork_server) -> tuple[Path, dict]:
    root = tmp_path_factory.mktemp("undisturbed")
    submissions = class_of(root / "in", STUDENTS)
    assert grade_here(fork_server, submissions, root / "out") == 0
    return submissions, grades(root / "out")


def test_killed_at_any_moment_it_goes_on_where_it_was(undisturbed, tmp_path, fork_server):
    """A run goes on from the store alone, so the last one, to the end, is in this process."""
    submissions, expected = undisturbed
    rng, log, interrupted = random.Random(SEED), tmp_path / "log", 0
    for _ in range(KILLS):
        grading = subprocess.Popen(
            command(submissions, tmp_path / "out", "--log", log), cwd=paths.ROOT,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        goal = rng.randrange(2, 8)
        had = len(events(log, "graded")) if log.exists() else 0
        while grading.poll() is None and (len(events(log, "graded")) if log.exists() else 0) < had + goal:
            time.sleep(rng.random() * 0.05)
        if grading.poll() is not None:
            break
        os.kill(grading.pid, signal.SIGKILL)
        grading.wait()
        interrupted += 1
    assert interrupted >= min(2, KILLS)
    assert grade_here(fork_server, submissions, tmp_path / "out", "--log", log) == 0
    assert grades(tmp_path / "out") == expected
    with sqlite3.connect(tmp_path / "out" / NAME) as file:
        (count,) = file.execute("select count(*) from results").fetchone()
    assert count == len(expected) * len(EXERCISES)
    # What was killed between writing and telling may be told never, but nothing is graded twice.
    keys = [event["key"] for event in events(log, "graded")]
    assert len(keys) == len(set(keys)) and count - interrupted * 2 <= len(keys) <= count


def grading_processes(pid: int) -> list[int]:
    """The grading processes of the process of a class. It has other children too, which read hand-ins."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if b"pool.work(" in Path(f"/proc/{child}/cmdline").read_bytes()]


@nightly
def test_a_grading_process_that_dies_costs_nobody_anything(undisturbed, tmp_path):
    submissions, expected = undisturbed
    log = tmp_path / "log"
    started = command(submissions, tmp_path / "out", "--log", log, jobs=2 if THOROUGH else 1)
    grading = subprocess.Popen(started, cwd=paths.ROOT, stderr=subprocess.PIPE, text=True)
    killed = 0
    while grading.poll() is None and killed < KILLS // 2 + 1:
        if log.exists() and len(events(log, "graded")) > 5 * killed and (jobs := grading_processes(grading.pid)):
            with contextlib.suppress(ProcessLookupError):  # it ended between our looking and our killing
                os.kill(jobs[0], signal.SIGKILL)  # the oldest: a hand-in whose process dies twice is not graded
                killed += 1
        time.sleep(0.02)
    _, stderr = grading.communicate(timeout=200)
    assert grading.returncode == 0 and killed == KILLS // 2 + 1, stderr
    assert grades(tmp_path / "out") == expected


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system binds no process to a processor")
def test_as_many_processes_as_processors_have_one_each_also_after_one_died():
    processors = sorted(os.sched_getaffinity(0))
    assert pool.processors_for(len(processors) + 1) == [None] * (len(processors) + 1)
    with pool.Pool(Order(Settings()), len(processors)) as grading:
        list(grading._replace(grading.jobs[0], "the test ends it"))
        bound = [os.sched_getaffinity(job.process.pid) for job in grading.jobs]
        for job in grading.jobs:
            job.kill()
    assert sorted(map(list, bound)) == [[processor] for processor in processors]


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of others' code is Linux's")
def test_a_dask_cluster_gives_the_same_though_a_worker_is_killed(undisturbed, tmp_path):
    """Its only worker is killed in mid-run, and another joins."""
    pytest.importorskip("distributed")
    submissions, expected = undisturbed
    environment = os.environ | {"PYTHONPATH": str(paths.ROOT)}
    file, log = tmp_path / "scheduler.json", tmp_path / "log"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment, "start_new_session": True}
    dask = [sys.executable, "-m", "dask"]
    worker = [*dask, "worker", "--scheduler-file", str(file), "--nthreads", "1", "--nworkers", "1", "--no-nanny"]
    worker += ["--no-dashboard", "--local-directory", str(tmp_path)]
    scheduler = [
        *dask,
        "scheduler",
        "--scheduler-file",
        str(file),
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--no-dashboard",
    ]
    cluster = [subprocess.Popen(scheduler, **quiet), subprocess.Popen(worker, **quiet)]
    try:
        while not file.exists():
            time.sleep(0.1)
        grading = subprocess.Popen(
            command(submissions, tmp_path / "out", "--dask", file, "--log", log), cwd=paths.ROOT,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        while grading.poll() is None and not (log.exists() and events(log, "graded")):
            time.sleep(0.05)
        os.killpg(cluster[1].pid, signal.SIGKILL)
        cluster.append(subprocess.Popen(worker, **quiet))
        _, stderr = grading.communicate(timeout=240)
    finally:
        for process in cluster:
            process.kill()
            process.wait()
    assert grading.returncode == 0, stderr
    assert grades(tmp_path / "out") == expected
    keys = [event["key"] for event in events(log, "graded")]
    assert len(keys) == len(set(keys))


def test_a_machine_with_another_version_is_refused():
    from grader.catalog.errors import InfrastructureError
    from grader.classroom import cluster, ledger

    order = {**Order(Settings()).__dict__, "grader": "0123456789abcdef torch 2.4.0"}
    refused = cluster.grade_part(order, [])["refused"]
    assert "0123456789abcdef torch 2.4.0" in refused and ledger.version_of_grader() in refused
    with pytest.raises(InfrastructureError, match="another version"):
        cluster.demand_same("0123456789abcdef torch 2.4.0", "tcp://10.0.0.1:40000")
    cluster.demand_same(ledger.version_of_grader(), "tcp://10.0.0.1:40000")


def test_ctrl_c_while_a_grading_process_starts_leaves_no_traceback(capfd):
    """The terminal sends it to every process, and this one would be in the middle of its imports."""
    job = pool.JobProcess(Order(Settings()))
    try:
        for _ in range(40):
            if job.process.poll() is not None:
                break
            job.process.send_signal(signal.SIGINT)
            time.sleep(0.05)
        assert job.process.wait(20) == 0
    finally:
        job.process.kill()
        job.connection.close()
    assert capfd.readouterr().err == ""
