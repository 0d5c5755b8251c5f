"""What a student is given, result.json and feedback.html, and how the folder of results is written."""

import gc
import json
import os
import random
import re
import signal
import subprocess
import sys
import weakref
from dataclasses import dataclass, replace
from html.parser import HTMLParser

import pytest
from globs import some
from made_up_class import HOSTILE, folders, result_of, stream

from grader import catalog
from grader.catalog import mistakes, paths
from grader.catalog.errors import WrongUse
from grader.classroom import outputs
from grader.classroom.handins import Student
from grader.classroom.pages import feedback
from grader.records.results import FAILED, ExerciseResult, Settings
from grader.records.submission import Submission
from grader.reports import json as as_json
from grader.reports.html import LEVELS

ADA = Student("ada", "Ada Lovelace")
EXERCISES = folders(3)
SAID = {
    "message": "the numbers differ", "diagnosis": "The scale is forgotten.", "output": "a print", "title": "check-",
    "where": "Look at line 7.",
}  # fmt: skip


FOUND = {"diagnosis": SAID["diagnosis"], "where": SAID["where"], "lines": (7,)}


@dataclass(frozen=True)
class Pictured(ExerciseResult):
    """A result with pictures, should ExerciseResult have no such field."""

    pictures: tuple = ()


class Text(HTMLParser):
    """The text of a page without its style and script, and its tags."""

    def __init__(self, page: str):
        super().__init__()
        self.words, self.tags, self._skip = [], [], False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._skip = tag in ("style", "script")

    def handle_endtag(self, tag):
        self._skip = False

    def handle_data(self, data):
        if not self._skip:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def failed(**changes) -> ExerciseResult:
    plain = result_of(EXERCISES[0], passed=0.5)
    checks = tuple(
        replace(check, title=f"check-{number}", **(FOUND if check.outcome == FAILED else {}))
        for number, check in enumerate(plain.checks)
    )
    return replace(plain, checks=checks, output=SAID["output"], notes=("a note",), **changes)


@pytest.mark.parametrize("level", LEVELS)
def test_page_and_record_tell_as_much_as_the_level_says(level):
    told = {"full": {"message", "diagnosis", "output", "title"}, "hints": {"diagnosis", "title"}, "names": {"title"}}
    told["where"] = told["full"] | {"where"}
    expected = told.get(level, set())
    page = Text(feedback.page(ADA, [failed()], EXERCISES, level)).text
    text = feedback.record(ADA, [failed()], EXERCISES, level)
    for name, words in SAID.items():
        assert (words in page) == (name in expected), f"{name} in feedback.html"
        assert (words in text) == (name in expected), f"{name} in result.json"
    known = json.loads(text)
    assert known["feedback"] == level
    assert any(check["lines"] for check in known["results"][0]["checks"]) == (level == "where")
    assert known["points"] == known["results"][0]["points"] == failed().points > 0
    assert f"{failed().points:g} of" in page  # the points are told at every level


def test_the_record_is_whole_and_can_be_read_back():
    given = [failed(), result_of(EXERCISES[2])]
    known = json.loads(feedback.record(ADA, given, EXERCISES, "where"))
    assert {key: known[key] for key in ("schema", "student", "name")} == {
        "schema": 1,
        "student": "ada",
        "name": ADA.name,
    }
    assert [as_json.read(entry) for entry in known["results"]] == given
    assert known["max_points"] == sum(catalog.find(folder).max_points for folder in EXERCISES)
    assert known["points"] == sum(result.points for result in given)
    assert json.loads(feedback.record(ADA, [], EXERCISES))["results"] == []


def test_the_page_names_what_is_missing_and_whose_fault_it_is_not():
    untouched = result_of(EXERCISES[1], passed=0, started=False, message="not started yet: open the file")
    page = Text(feedback.page(ADA, [untouched], EXERCISES, "full", {EXERCISES[2]: "worker 7 died"})).text
    assert "Ada Lovelace (ada)" in page
    assert "nothing handed in" in page and "not started" in page
    assert "could not be graded yet: not your fault" in page and "worker 7" not in page


@pytest.mark.parametrize("words", [*HOSTILE, "\x1b[2J", "</style><script>1</script>"])
def test_words_of_a_learner_stay_words(words):
    checks = tuple(replace(check, message=words, diagnosis=words, title=words) for check in failed().checks)
    result = failed(submission=words, message=words)
    result = replace(result, checks=checks, output=words, notes=(words,))
    page = feedback.page(Student("x", words), [result], EXERCISES)
    plain = Text(feedback.page(ADA, [failed()], EXERCISES))
    allowed = {tag for tag, _ in plain.tags} | {"p", "pre", "details", "summary"}
    assert {tag for tag, _ in Text(page).tags} <= allowed
    assert not any(name.startswith("on") for _, attributes in Text(page).tags for name in attributes)
    assert "\x1b" not in page and "\u202e" not in page


def test_no_hidden_input_or_expected_number_is_given_away(fork_server):
    """A wrong version graded twice: what only its owner's own desk may see is on no page of a class."""
    from grader.judge import capture, grading

    exercise = catalog.for_class()[5]
    for mistake in mistakes.mistakes(exercise.folder):
        handed_in = Submission(mistake.source, f"{mistake.name}.py")
        shown = grading.result(exercise, handed_in, fork_server, Settings(seed=3, reveal=True))
        result = grading.result(exercise, handed_in, fork_server, Settings(seed=3, reveal=False))
        told = {line for check in result.checks for line in check.message.splitlines()}
        owner = {line for check in shown.checks if check.hidden for line in check.message.splitlines()}
        if secret := {line for line in owner - told if re.search(r"\d\.\d\d", line)}:
            break
    assert secret  # else this test sees nothing
    facts = {name: getattr(result, name) for name in ExerciseResult.__dataclass_fields__}
    taken = capture.capture_pictures(exercise, handed_in, fork_server)
    result = Pictured(**{**facts, "pictures": taken, "duration_s": 0.0})  # which may have a secret number's digits
    page = feedback.page(ADA, [result], [exercise.folder])
    record = feedback.record(ADA, [result], [exercise.folder])
    assert any(check.diagnosis for check in result.checks)
    for check in result.checks:
        if check.diagnosis:
            assert check.diagnosis in Text(page).text
    for line in secret:
        assert line not in Text(page).text and line not in record
        for printed in re.findall(r"-?\d+\.\d{3,}", line):
            assert printed not in record
    assert page.count('<figure class="picture">') == len(taken) > 0


# The folder of results.


def test_every_file_is_written_and_what_is_unchanged_is_left_alone(tmp_path):
    students = list(stream(12, EXERCISES))
    outputs.write(tmp_path, students, EXERCISES)
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    names = {str(path.relative_to(tmp_path)) for path in files}
    expected = {f"{student.id}/{name}" for student, _ in students for name in ("result.json", "feedback.html")}
    assert names == expected | {"grades.csv", "class.html"}
    before = {path: path.stat().st_ino for path in files}
    outputs.write(tmp_path, students, EXERCISES)
    assert {path: path.stat().st_ino for path in files} == before
    student, found = students[3]
    students[3] = (student, [result_of(EXERCISES[0]), *found[1:]])
    outputs.write(tmp_path, students, EXERCISES)
    changed = {str(path.relative_to(tmp_path)) for path in files if path.stat().st_ino != before[path]}
    assert changed == {f"{student.id}/result.json", f"{student.id}/feedback.html", "grades.csv", "class.html"}


def test_a_half_written_file_of_a_killed_run_does_no_harm(tmp_path):
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / ".result.json.new").write_text("{half")
    outputs.write(tmp_path, [(ADA, [failed()])], EXERCISES)
    assert json.loads((tmp_path / "ada" / "result.json").read_text("utf-8"))["student"] == "ada"
    assert (tmp_path / "ada" / ".result.json.new").read_text() == "{half"  # a name that we would not use: left alone


def test_a_killed_run_leaves_whole_files(tmp_path):
    """Writes other contents again and again, is killed at a random moment; each file is one content or the other."""
    code = f"""
import sys
sys.path.insert(0, {str(paths.ROOT / "tests")!r})
from pathlib import Path
from made_up_class import folders, stream
from grader.classroom import outputs
for round in range(10_000):
    outputs.write(Path({str(tmp_path)!r}), stream(6, folders(2)), folders(2), level=("full", "none")[round % 2])
    print(round, flush=True)
"""
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=paths.ROOT, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        pages = [*tmp_path.rglob("*.html")]
        for path in random.choices(pages, k=4000):  # who looks meanwhile sees whole files too
            assert path.read_text("utf-8").endswith("</html>\n"), path
        os.kill(process.pid, signal.SIGKILL)
    for path in some(tmp_path.rglob("result.json")):
        assert json.loads(path.read_text("utf-8"))["feedback"] in ("full", "none")
    assert len(pages) == 7
    assert all(path.read_text("utf-8").endswith("</html>\n") for path in pages)


def test_a_class_is_never_in_memory_at_once(tmp_path):
    alive, most = 0, 0

    def gone():
        nonlocal alive
        alive -= 1

    def counted():
        nonlocal alive, most
        for student, found in stream(60, EXERCISES):
            for result in found:
                weakref.finalize(result, gone)
                alive += 1
            most = max(most, alive)
            yield student, found
            del found

    outputs.write(tmp_path, counted(), EXERCISES)
    gc.collect()
    assert alive == 0
    assert most <= 2 * len(EXERCISES)


@pytest.mark.parametrize("id", ["", "..", ".hidden", "a/b", "a\\b", "grades.csv", "Class.html", "nul\0"])
def test_an_id_that_is_no_folders_name_costs_these_pages_alone(tmp_path, id):
    with pytest.raises(outputs.Unwritten, match="no name of a folder"):
        outputs.write(tmp_path / "out", [(Student(id), []), (ADA, [])], EXERCISES)
    assert {path.name for path in tmp_path.rglob("*")} == {
        *("out", ADA.id, outputs.RECORD, "feedback.html"),
        *(outputs.GRADES, outputs.PAGE),
    }


def test_a_folder_that_cannot_be_written_is_said_in_words(tmp_path):
    (tmp_path / "results").write_text("a file")
    with pytest.raises(WrongUse, match="cannot be written"):
        outputs.write(tmp_path / "results", [(ADA, [])], EXERCISES)
