"""An error of ours costs no more than what it happened in, and is told; what is remembered has its room in bytes."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from raised import raised

from grader import catalog
from grader.catalog import paths
from grader.catalog.errors import InfrastructureError
from grader.judge import diagnosis, examiner, grading, patterns
from grader.records import containment, forbidden, submission
from grader.records.bounded_cache import BoundedCache
from grader.records.results import Settings
from grader.records.submission import Submission
from grader.reports import deliver
from grader.sandbox.remote import Remote

pytestmark = pytest.mark.slow

EXERCISE = catalog.find("03")
SOLUTION = Submission(paths.solution(EXERCISE.folder).read_text("utf-8"), "context_vectors.py")
WRONG = replace(SOLUTION, source=SOLUTION.source.replace("return weights @", "return 1.1 * weights @"))
HOW = Settings(seed=5, reveal=False, pictures=True)


def broken(*_, **__):
    raise OverflowError("a hidden number: 0.629638671875")


def graded(fork_server, *submissions: Submission) -> list:
    return [*grading.results(EXERCISE, submissions, fork_server, HOW)]


@pytest.fixture(scope="module")
def before(fork_server):
    """The result of a wrong answer where nothing is broken."""
    return graded(fork_server, WRONG)[0]


@pytest.mark.parametrize(
    "owner, name",
    [(patterns, "describe"), (diagnosis.Diagnostician, "matches"), (examiner, "capture_pictures"),
     (examiner.messages, "failure"), (forbidden, "note")],
)  # fmt: skip
def test_what_is_never_worth_a_verdict_is_left_out(owner, name, before, fork_server, lenient, monkeypatch, capsys):
    monkeypatch.setattr(owner, name, broken)
    after = graded(fork_server, WRONG)[0]
    assert (after.status, after.points) == (before.status, before.points) == ("failed", before.points)
    said = capsys.readouterr().err
    assert "left out" in said and "OverflowError" in said and "0.6296" not in said
    containment.strict = True
    raised(OverflowError, graded, fork_server, WRONG)


def test_one_submission_that_breaks_us_is_not_graded_and_the_others_are(fork_server, lenient, monkeypatch):
    """Of a reason of our own its words are told, of any other error its name."""
    load, why = Remote.load, {"a.py": OverflowError("0.6296"), "b.py": InfrastructureError("no more processes")}

    def loading(remote: Remote) -> None:
        if error := why.get(remote.submission.filename):
            raise error
        load(remote)

    monkeypatch.setattr(Remote, "load", loading)
    first, second = (replace(SOLUTION, filename=name) for name in why)
    results = graded(fork_server, SOLUTION, first, WRONG, second, SOLUTION)
    assert [result.status for result in results] == ["passed", "not_graded", "failed", "not_graded", "passed"]
    assert "OverflowError" in results[1].message and "0.6296" not in results[1].message
    assert "no more processes" in results[3].message
    assert results[1].points == 0 and results[1].max_points == EXERCISE.max_points


def test_the_command_line_gives_all_other_verdicts_and_says_3(tmp_path, said, lenient, monkeypatch):
    """A file whose reading breaks us, between two others."""
    files = [tmp_path / name for name in ("one.py", "bad.py", "two.py")]
    for file in files:
        file.write_text(SOLUTION.source)
    read = submission.read
    monkeypatch.setattr(submission, "read", lambda path, **how: broken() if path == files[1] else read(path, **how))
    done = said("grade", "--ex", "03", "--files", *files)
    assert done.returncode == 3, done.stderr
    assert done.stdout.count("7 of 7 points") == 2 and "OverflowError" in done.stdout and "0.6296" not in done.stdout


# What cannot be written goes to standard output.


@pytest.mark.parametrize("name", ["no/such/folder/a.json", ".", "\udcff/a.json", "nul\0.json", "x" * 300])
def test_a_report_that_cannot_be_written_is_not_lost(name, tmp_path, capsys):
    assert not deliver("the verdict: \udcff\n", tmp_path / name)
    said = capsys.readouterr()
    assert said.out.startswith("the verdict") and "cannot be written" in said.err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_no_verdict():
    command = [sys.executable, "-m", "grader", "progress"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, cwd=paths.ROOT, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 3 and "No space left" in done.stderr


# What is kept.


def test_what_is_kept_has_its_room_in_bytes():
    kept = BoundedCache(1 << 20)
    for number in range(100):
        kept.put(number, torch.zeros(10_000))  # 40 kB
        assert kept.size <= 1 << 20
    assert len(kept.values) >= 20 and 99 in kept.values and 0 not in kept.values and kept.get(0) is None
    oldest = next(number for number in range(100) if number in kept.values)
    assert kept.get(oldest) is not None
    kept.put(100, torch.zeros(10_000))
    assert oldest in kept.values and oldest + 1 not in kept.values  # what was used last stays
    kept.put("huge", torch.zeros(1 << 18))
    assert "huge" not in kept.values and 100 in kept.values
