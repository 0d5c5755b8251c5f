"""The seed of others' work is known to nobody who hands in: it is in nothing that they get, nor in what they run."""

import base64
import contextlib
import datetime
import json
import stat
import zlib
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from globs import some
from in_this_process import Here

from grader import catalog
from grader import cli as command_line
from grader.catalog import paths
from grader.classroom import grade as grading_step
from grader.classroom import run as classroom
from grader.classroom.pool import Outcome
from grader.classroom.store import NAME, Store
from grader.classroom.store import seed_of as key_seed
from grader.integrations import classroom50, gradescope, one_student
from grader.judge import grading
from grader.judge.inputs import Random
from grader.judge.proxy import Learner
from grader.judge.session import Session
from grader.records.results import Settings
from grader.records.seeds import SECRET, part, secret_seed, torch_seed
from grader.records.submission import Submission
from grader.reports import ci, html, terminal
from grader.reports import json as as_json
from grader.sandbox.local import Local

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("here")]  # no process of its own

EXERCISE = catalog.find("03")
SOURCE = paths.solution(EXERCISE.folder).read_text("utf-8")
WRONG = SOURCE.replace("softmax(", "sigmoid(", 1)


def marks(seed: int) -> set[str]:
    """The secret, each check's and what a worker is told, in every form in which a text could hold them."""
    found = set()
    for check in EXERCISE.points:
        own = part(seed, check)
        told = [torch_seed(own), torch_seed(part(own)), *(torch_seed(part(own, number)) for number in range(20))]
        for number, size in [(seed, 17), (seed % SECRET, 16), (own, 17), (own % SECRET, 16), *((n, 8) for n in told)]:
            data = number.to_bytes(size, "little")
            found |= {str(number), f"{number:x}", data.hex(), base64.b64encode(data).decode().rstrip("=")}
            found |= {data[::-1].hex(), base64.b64encode(data[::-1]).decode().rstrip("=")}
    return found


def held_in(text: str, seed: int) -> set[str]:
    return {mark for mark in marks(seed) if mark in text or mark.upper() in text}


def hand_in(root: Path, student: str, source: str) -> None:
    path = root / student / EXERCISE.folder / f"{EXERCISE.slug}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, "utf-8")


# What is derived.


def test_a_desks_seeds_draw_what_they_always_drew():
    assert part(7, "fresh") == zlib.crc32(b"7 fresh") == torch_seed(part(7, "fresh"))
    assert part(part(7, "fresh"), 3) == zlib.crc32(f"{zlib.crc32(b'7 fresh')} 3".encode())
    drawn = torch.randn(3, generator=torch.Generator().manual_seed(zlib.crc32(b"7 fresh")), dtype=torch.float64)
    assert torch.equal(Random(7, "fresh").randn(3, dtype=torch.float64), drawn)
    assert not Random(7, "fresh").strided(3, 4).is_contiguous()


def test_what_a_secret_gives_is_secret_too_and_nothing_twice():
    secret = secret_seed()
    assert secret >= SECRET and secret != secret_seed()
    checks = [part(secret, name) for name in EXERCISE.points]
    calls = [part(check, number) for check in checks for number in range(50)]
    told = [torch_seed(seed) for seed in (secret, *checks, *map(part, checks), *calls)]
    assert all(SECRET <= seed < 2 * SECRET for seed in (*checks, *calls)) and all(0 <= seed < 1 << 63 for seed in told)
    assert len(set(told)) == len(told)
    assert not {seed % 2**32 for seed in told} & {seed % 2**32 for seed in (secret, *checks, *calls)}
    assert part(secret, "a") == part(secret, "a") != part(secret + 1, "a")


@pytest.mark.parametrize("reveal", [True, False])
def test_a_result_for_others_eyes_has_no_seed(reveal, fork_server):
    settings = Settings(seed=271828, reveal=reveal, diagnose=False)
    for source in (SOURCE, "def f(:\n"):
        result = grading.result(EXERCISE, Submission(source, "x.py"), fork_server, settings)
        record = as_json.record(result)
        assert "seed" in record and as_json.read(json.loads(json.dumps(record))) == result
        shown = [json.dumps(record), html.verdict(result, "full"), ci.as_junit(result)]
        assert "271828" not in terminal.plain(result)
        assert ["271828" in text for text in shown] == [reveal] * 3
        assert not any("None" in text for text in shown[1:])


# A class: one secret a run, kept for the teacher, another one for what is graded later.


@pytest.fixture(scope="module")
def marked(tmp_path_factory, fork_server) -> tuple[Path, Path, int]:
    """Three students, graded once by the command line as a teacher types it."""
    root = tmp_path_factory.mktemp("class")
    hand_in(root / "in", "ada", SOURCE)
    hand_in(root / "in", "ben", WRONG + "\nprint(torch.initial_seed())\n")
    hand_in(root / "in", "cy", "def f(:\n")
    words = [str(word) for word in ("grade", root / "in", "--out", root / "out", "--jobs", 1)]
    with (root / "said").open("w") as said, pytest.MonkeyPatch.context() as patch:
        patch.setattr(grading_step, "executor_of", Here(fork_server))
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = command_line.main(words)
    assert code == 0, (root / "said").read_text()
    return root / "in", root / "out", seed_of(root / "out", "ada")


def seed_of(out: Path, student: str) -> int:
    with Store(out) as file:
        [key] = [one.key for one in file.entries() if one.student.id == student]
    return key_seed(key)


def grade_again(submissions: Path, out: Path, most: int = 1000, seed: int | None = None) -> list[str]:
    """Grade the class in this process. Gives what was graded. most: the run is stopped after so many."""
    graded = []
    plan = classroom.Plan(submissions, out, (EXERCISE,), how=grading_step.How(seed=seed))
    for event in classroom.run(plan):
        graded += [event.task.key] if isinstance(event, Outcome) else []
        if len(graded) == most:
            break
    return graded


def test_nothing_that_a_student_or_a_log_gets_holds_the_secret(marked):
    _, out, seed = marked
    assert seed >= SECRET
    looked = [path for path in (*out.rglob("*"), out.parent / "said") if path.is_file()]
    texts = {path: path.read_bytes().decode("latin-1") for path in looked if not path.name.startswith(NAME)}
    assert len(texts) >= 3 * 2 + 4
    assert {path: found for path, text in texts.items() if (found := held_in(text, seed))} == {}
    for path in some(out.glob("json/*.json")):
        assert [result["seed"] for result in json.loads(path.read_text("utf-8"))["results"]] == [None]
    assert held_in((out / NAME).read_bytes().decode("latin-1"), seed)  # the one place, which shows that we can look


def test_nobody_else_can_read_the_store(tmp_path):
    (tmp_path / NAME).touch(0o644)
    with Store(tmp_path) as file:
        file.note("unfinished", secret_seed())
        modes = [stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob(f"{NAME}*")]
    assert modes == [0o600, 0o600]  # the file and its log


def test_what_is_graded_later_is_asked_something_else(marked):
    submissions, out, first = marked
    assert grade_again(submissions, out) == []
    hand_in(submissions, "ben", SOURCE + "\n# at last\nBEN = 1\n")
    hand_in(submissions, "dee", SOURCE + "\nDEE = 1\n")
    assert len(grade_again(submissions, out)) == 2
    second = seed_of(out, "ben")
    assert SECRET <= second != first and seed_of(out, "dee") == second and seed_of(out, "ada") == first
    hand_in(submissions, "ben", SOURCE)  # back to what is graded already
    assert grade_again(submissions, out) == [] and seed_of(out, "ben") == first


def test_each_grade_is_explained_with_its_own_seed(marked, said):
    submissions, out, _ = marked
    hand_in(submissions, "eli", WRONG)
    grade_again(submissions, out)
    for student in ("ada", "eli"):
        told = said("explain", student, "03", "--out", out)
        assert told.returncode == 0, told.stderr
        assert f"seed {seed_of(out, student)}," in told.stdout and "The same as in the folder." in told.stdout
    assert seed_of(out, "ada") != seed_of(out, "eli")


def test_a_run_that_was_stopped_goes_on_with_its_seed(tmp_path):
    submissions, out, students = tmp_path / "in", tmp_path / "out", ("a", "b", "c")
    for student in students:
        hand_in(submissions, student, f"{SOURCE}\n{student} = 1\n")
    assert len(grade_again(submissions, out, most=1)) == 1
    assert len(grade_again(submissions, out)) == 2
    assert len({seed_of(out, student) for student in students}) == 1
    assert grade_again(submissions, out, seed=5) and seed_of(out, "b") == 5
    assert grade_again(submissions, out, seed=5) == grade_again(submissions, out) == []


def test_who_knows_all_answers_to_one_secret_knows_of_another_the_documented_alone():
    """A table of answers, made by somebody who saw everything, earns no other points."""
    asked: list[dict[str, set[str]]] = []
    for seed in (secret_seed(), secret_seed()):
        with Session(EXERCISE, seed) as session:
            subject = Learner(Local(SOURCE, "x.py", EXERCISE.slug))
            answers = {check.id: session.run(check, subject)[1] for check in session.checks}
        asked.append({check: {repr(call.value) for call in calls} for check, calls in answers.items()})
    first, second = asked
    assert first.keys() == second.keys() and {name.partition("_")[0] for name in first} >= {"documented", "fresh"}
    for check in first:
        if check.startswith("documented"):
            assert first[check] == second[check]
        if check.startswith("fresh"):
            assert first[check] - second[check] and second[check] - first[check], check


# Where others grade.


def test_platforms_draw_a_secret_in_every_run_and_tell_it_nowhere(tmp_path, monkeypatch, capfd, fork_server):
    drawn: list[int] = []
    monkeypatch.setattr(one_student, "ForkServer", lambda: contextlib.nullcontext(fork_server))
    monkeypatch.setattr(one_student, "secret_seed", lambda: drawn.append(secret_seed()) or drawn[-1])
    (tmp_path / "context_vectors.py").write_text(WRONG)
    about = dict.fromkeys(("CLASSROOM", "ASSIGNMENT", "USERNAME", "SUBMISSION_TAG", "COMMIT_URL", "RELEASE_URL"), "x")
    now = datetime.datetime.now(datetime.timezone.utc)
    for _ in range(2):
        result = one_student.grade(tmp_path, [EXERCISE])
        said = json.dumps([gradescope.results(result), classroom50.result(result, about, now)])
        said += "".join(capfd.readouterr()) + repr([asdict(found) for _, found in result.results])
        assert not held_in(said, drawn[-1])
    assert len(set(drawn)) == 2
