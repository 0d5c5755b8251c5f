"""The brake for guessers: who comes too early or too often is not graded, and never loses a mark."""

import json
import subprocess
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from made_up_class import result_of
from test_office import CONTEXT, RIGHT, WRONG, lay
from test_platforms import fits

from grader import catalog
from grader.classroom import course_rules, office
from grader.classroom.course_rules import NO_BRAKE, Brake
from grader.integrations import classroom50, gradescope
from grader.integrations.one_student import Graded
from grader.records.results import NOT_GRADED

NOON = datetime(2026, 11, 20, 12, tzinfo=timezone.utc)
HOURLY = Brake(attempts=3, wait_s=3600)
RULES = "[brake]\nattempts = 3\nwait_minutes = 60\n"


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


# The rule


def test_without_a_brake_nothing_is_held_or_said():
    assert not NO_BRAKE and NO_BRAKE.announcement == ""
    assert NO_BRAKE.held([at(0)] * 100, at(0)) == "" and NO_BRAKE.standing([at(0)]) == ""
    assert NO_BRAKE.graded([at(0), at(0)]) == [0, 1]


def test_who_waits_long_enough_is_graded_until_the_attempts_are_used():
    assert HOURLY.held([], at(0)) == ""
    assert "from 2026-11-20 13:00 UTC on" in HOURLY.held([at(0)], at(59.9))
    assert HOURLY.held([at(0)], at(60)) == ""
    assert "All 3 graded attempts are used" in HOURLY.held([at(0), at(60), at(120)], at(999))
    # What was held does not count, and does not make anybody wait longer.
    assert HOURLY.graded([at(m) for m in (0, 10, 30, 61, 62, 121, 300)]) == [0, 3, 5]
    assert Brake(wait_s=5400).graded([at(100), at(0)]) == [1, 0]


def test_what_students_read():
    assert HOURLY.announcement.startswith("You have 3 graded attempts. From one graded attempt to the next, wait at")
    assert "wait at least 90 minutes" in Brake(wait_s=5400).announcement
    assert Brake(1).announcement.startswith("You have 1 graded attempt. What")
    assert HOURLY.standing([at(0), at(60)]) == (
        "Graded attempt 2 of 3. The next one can come from 2026-11-20 14:00 UTC on."
    )
    assert HOURLY.standing([at(0), at(60), at(120)]) == "Graded attempt 3 of 3."
    assert "from 2026-11-20 13:01 UTC on" in HOURLY.held([NOON + timedelta(seconds=0.5)], at(1))  # never too early


@pytest.mark.parametrize(
    ("text", "words"),
    [("attempts = 1.5", "whole number"), ("wait = 3", "knows no wait"), ("wait_minutes = -1", "at least 0")],
)
def test_what_is_wrong_in_it_is_said(tmp_path, text, words):
    lay(tmp_path, "course.toml", f"[brake]\n{text}\n")
    with pytest.raises(Exception, match=words):
        course_rules.read_rules(tmp_path / "course.toml")


# Gradescope


def handed_in(tmp_path, minutes: float, previous: list[dict]) -> gradescope.Ruled:
    """The rules as the zip has them, for a submission so long after noon."""
    lay(tmp_path, "course.toml", RULES)
    for name, content in gradescope.files(office.read(tmp_path / "course.toml", None)).items():
        lay(tmp_path / "zip", name, content.decode())
    facts = {"created_at": at(minutes).isoformat(), "users": [{"email": "a@x.edu"}], "previous_submissions": previous}
    lay(tmp_path / "zip", "submission_metadata.json", json.dumps(facts))
    return gradescope.read_rules(tmp_path / "zip/course.toml", tmp_path / "zip/submission_metadata.json")


def test_on_gradescope_a_mark_is_never_lost(tmp_path):
    """Submissions one after the other, each with what Gradescope gives back of the earlier ones."""
    previous: list[dict] = []
    scores, said = [], []
    for minutes, passed in ((0, 0.5), (10, 0.0), (20, 1.0), (61, 1.0), (70, 0.0), (200, 0.5), (999, 1.0)):
        ruled = handed_in(tmp_path, minutes, previous)
        graded = Graded(((catalog.find("03"), result_of(CONTEXT, passed)),))
        content = gradescope.held(ruled) if ruled.held else gradescope.results(graded, ruled=ruled)
        content = json.loads(json.dumps(content))
        fits(content, "gradescope")
        scores.append(sum(test["score"] for test in content["tests"]))
        assert scores[-1] == content["score"] and content["stdout_visibility"] == "hidden"
        said.append(content["output"].splitlines()[0])
        previous.append({"submission_time": at(minutes).isoformat(), "score": scores[-1], "results": content})
    half = result_of(CONTEXT, 0.5).points
    assert scores == [half, half, half, 7, 7, half, half]
    assert said[0].startswith("Graded attempt 1 of 3") and said[3].startswith("Graded attempt 2 of 3")
    assert "can come from 2026-11-20 13:00 UTC on" in said[1] and said[1][:10] == said[2][:10] == "Not graded"
    assert said[5] == "Graded attempt 3 of 3." and "All 3 graded attempts are used" in said[6]


def test_a_failure_of_the_grader_takes_no_attempt_away(tmp_path):
    ruled = handed_in(tmp_path, 0, [])
    broken = Graded(((catalog.find("03"), result_of(CONTEXT, status=NOT_GRADED, checks=())),))
    content = gradescope.results(broken, ruled=ruled)
    before = [{"submission_time": at(0).isoformat(), "results": one} for one in (content, gradescope.failure("x"))]
    before += [{"submission_time": at(0).isoformat()}, {"results": {}}, "x", {"submission_time": "x", "results": {}}]
    assert handed_in(tmp_path, 1, before).held == "" and "Graded attempt" not in content["output"]


def test_the_command_keeps_the_mark_and_the_instructor_reads_what_to_say(said, tmp_path):
    ruled = handed_in(tmp_path, 0, [])
    first = gradescope.results(Graded(((catalog.find("03"), result_of(CONTEXT, 0.5)),)), ruled=ruled)
    handed_in(tmp_path, 5, [{"submission_time": at(0).isoformat(), "results": first}])
    lay(tmp_path / "zip/submission", "context_vectors.py", RIGHT[CONTEXT])
    options = ("--grade", tmp_path / "zip/submission", "--rules", tmp_path / "zip/course.toml")
    done = said("gradescope", "03", *options, "--output", tmp_path / "results.json")
    content = json.loads((tmp_path / "results.json").read_text())
    assert done.returncode == 0 and content["score"] == first["score"] and content["tests"] == first["tests"]
    done = said("gradescope", "03", "--rules", tmp_path / "course.toml", "--output", tmp_path / "a.zip")
    assert f'Say in the description of the assignment: "{HOURLY.announcement}"' in done.stdout


# Classroom 50


def tag_of(minutes: float) -> str:
    return f"submit/{at(minutes):%Y-%m-%dT%H-%M-%SZ}-abc1234"


@pytest.fixture
def repository(tmp_path):
    """`repository(minutes, source)` commits and tags a submission, as Classroom 50's runner does."""
    root = tmp_path / "checkout"
    root.mkdir()

    def git(*words: str) -> None:
        identity = ("-c", "user.name=x", "-c", "user.email=x@y.z")
        subprocess.run(["git", "-C", root, *identity, *words], check=True, capture_output=True)

    def submit(minutes: float, source: str):
        lay(root, f"exercises/{CONTEXT}/context_vectors.py", source)
        git("add", ".")
        git("commit", "-qm", "work", "--allow-empty")
        git("tag", tag_of(minutes))
        return root

    git("init", "-q")
    return submit


def test_the_times_of_tags():
    assert classroom50.time_of(tag_of(5)) == at(5)
    assert classroom50.time_of("submit/20261120T120500Z-abc1234") == at(5)
    assert classroom50.time_of("submit/2026-13-20T12-05-00Z-abc") is None and classroom50.time_of("submit/v1") is None


def test_what_was_graded_follows_from_the_tags(repository):
    for minutes in (0, 10, 61, 70):
        root = repository(minutes, WRONG[CONTEXT])
    held = classroom50.verdict(root, HOURLY, tag_of(70), at(0))
    assert held.held.startswith("Not graded") and held.last == tag_of(61)
    assert classroom50.verdict(root, HOURLY, tag_of(61), at(0)).standing.startswith("Graded attempt 2 of 3")
    assert classroom50.verdict(root, HOURLY, "", at(200)).standing == "Graded attempt 3 of 3."
    assert classroom50.verdict(root.parent, HOURLY, tag_of(0), at(0)).held == ""  # no repository: nothing is known


def test_a_held_submission_has_the_points_of_the_last_graded_one(repository, said, tmp_path, monkeypatch):
    repository(0, RIGHT[CONTEXT])
    root = repository(10, WRONG[CONTEXT])
    for name in ("CLASSROOM", "ASSIGNMENT", "USERNAME", "COMMIT_URL", "RELEASE_URL"):
        monkeypatch.setenv(name, "x")
    lay(tmp_path, "course.toml", RULES)
    points = []
    for tag in (tag_of(10), tag_of(100)):
        monkeypatch.setenv("SUBMISSION_TAG", tag)
        options = ("--grade", root, "--rules", tmp_path / "course.toml", "--output", tmp_path / "result.json")
        assert said("classroom50", "03", *options).returncode == 0
        content = json.loads((tmp_path / "result.json").read_text())
        points.append(content["score"])
        first = content["tests"][0]
        assert (first["score"], first["max-score"], first["passed"]) == (0, 0, tag == tag_of(100))
        assert first["test-name"].startswith("Not graded: your last" if tag == tag_of(10) else "Graded attempt 2 of 3")
    assert points[0] == content["max-score"] > points[1]


def test_the_files_of_an_assignment_hold_the_brake_and_no_other_rule(tmp_path, said):
    lay(tmp_path, "course.toml", RULES + '[extensions]\n"ada" = { "03" = 2026-11-24 }\n')
    done = said("classroom50", "03", "--rules", tmp_path / "course.toml", "--output", tmp_path / "made")
    assert HOURLY.announcement in done.stdout
    assert course_rules.read_rules(tmp_path / "made/course.toml").brake == HOURLY
    assert "ada" not in (tmp_path / "made/course.toml").read_text()
    assert "course.toml" not in classroom50.files([catalog.find("03")], False, replace(HOURLY, attempts=0, wait_s=0))
