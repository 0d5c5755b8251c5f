"""Hints, the fresh stub, the solution and the history, as a learner uses them."""

import io
import json
import multiprocessing
import shutil
import time
from dataclasses import replace

from rich.console import Console

from grader import catalog
from grader.catalog import mistakes, paths, project
from grader.desk import hints, progress, solution
from grader.records.results import AND, FAILED, PASSED, CheckResult, ExerciseResult

EXERCISE = catalog.for_class()[2]
FOLDER = EXERCISE.folder
NUMBER = FOLDER[:2]
NEXT = catalog.for_class()[3].folder


def result(outcomes: dict[int, str], status: str = FAILED) -> ExerciseResult:
    """A verdict with one check for each task."""
    checks = [
        CheckResult(f"check_{task}", "A promise.", outcome, 0.0, 1.0, task=task) for task, outcome in outcomes.items()
    ]
    return ExerciseResult(FOLDER, EXERCISE.title, "the file", "cpu", 1, status, 0.1, tuple(checks))


# Lessons and hints.


def test_hints_come_one_by_one_and_stay_with_the_open_task(said, desk):
    every, given = hints.all_hints(FOLDER), []
    first = [hint for hint in every if hint.task == 1]
    for number in range(1, len(first) + 1):
        done = said("hint", NUMBER, cwd=desk)
        left = len(first) - number
        assert done.returncode == 0
        assert f"{left} more for this task" in done.stdout if left else "the last one for this task" in done.stdout
        given.append(" ".join(done.stdout.split()))
    for hint, text in zip(first, given):
        assert f"Task {hint.task} {hint.stage} of {hint.of} " in text and " ".join(hint.text.split()) in text
    last = said("hint", NUMBER, cwd=desk)
    assert last.returncode == 0 and f"make hint EX={NUMBER} TASK=1 ALL=1" in " ".join(last.stdout.split())
    assert "Another task's come once this one is done" in last.stdout
    assert f"EX={NUMBER} TASK=2" in said("hint", NUMBER, "--task", "2", cwd=desk).stdout  # the next one of this task
    kept = json.loads((desk / ".kata-progress.json").read_text())["exercises"]
    assert sum(kept[FOLDER]["hints"].values()) == len(first) + 1
    everything = " ".join(said("hint", NUMBER, "--all", cwd=desk).stdout.split())
    assert all(" ".join(hint.text.split()) in everything for hint in every)
    (desk / "exercises" / FOLDER / "hints.md").unlink()
    done = said("hint", NUMBER, cwd=desk)
    assert done.returncode == 2 and "There are no hints" in done.stderr


def test_hints_go_on_where_a_task_is_done(said, desk):
    solution = paths.solution(FOLDER).read_text("utf-8")
    stub = paths.stub(FOLDER)
    stub.write_text(solution.split("def context_vector(")[0])  # task 1 alone
    assert said("check", NUMBER, cwd=desk).returncode == 1
    assert "\nTask 2\n" in said("hint", NUMBER, cwd=desk).stdout
    stub.write_text(solution.split("def context_vectors(")[0])  # the last task alone is open
    assert said("check", NUMBER, cwd=desk).returncode == 1
    given = [said("hint", NUMBER, cwd=desk) for _ in range(4)]
    assert "\nTask 3\n" in given[0].stdout
    assert given[3].returncode == 0 and "every hint for task 3" in given[3].stdout
    stub.write_text(solution)
    assert said("check", NUMBER, cwd=desk).returncode == 0
    done = said("hint", NUMBER, cwd=desk)
    assert done.returncode == 0 and "Every task of" in done.stdout
    said("reset", NUMBER, cwd=desk)  # the verdict was on another file than the fresh stub
    assert said("hint", NUMBER, cwd=desk).stdout.splitlines()[1].startswith("Task 1")


def test_a_hint_begins_with_the_misconception_that_a_diagnosis_shows(history):
    known = mistakes.mistakes(FOLDER)[0]
    idea = mistakes.misconceptions()[known.misconception]
    of_task = sum(hint.task == 2 for hint in hints.all_hints(FOLDER))
    failed = result({1: PASSED, 2: FAILED})
    checks = (failed.checks[0], replace(failed.checks[1], diagnosis=f"{known.sentence}{AND}Something else."))
    progress.note(replace(failed, checks=checks))
    first, second = hints.ask(FOLDER), hints.ask(FOLDER)
    assert (first.hint.stage, first.left) == (0, of_task)
    assert first.hint.text.startswith(idea.hint) and f"“{idea.section}" in first.hint.text
    assert (second.hint.stage, second.left) == (1, of_task - 1)
    assert hints.ask(FOLDER, 1).hint.stage == 1  # another task has another cause
    progress.note(replace(failed, checks=(replace(failed.checks[0], outcome=FAILED, diagnosis="What nobody knows."),)))
    assert hints.ask(FOLDER, 1).hint.stage == 2  # no hint is about it, so the next one of the task comes


def test_every_misconception_has_a_question_and_sends_nobody_ahead_to_a_lesson_still_to_come():
    for idea in mistakes.misconceptions().values():
        own_text = hints.about(idea, catalog.find(idea.lesson).folder)
        assert "?" in idea.hint and f" Then read “{idea.section}" in own_text and own_text.endswith(" again."), idea.id
        for exercise in catalog.exercises():
            text = hints.about(idea, exercise.folder)
            assert text.endswith(f"in lesson {idea.lesson}.") == (idea.lesson < exercise.folder[:2]), idea.id
            assert ("Then read “" in text) == (idea.lesson <= exercise.folder[:2]), idea.id


# The fresh stub and the solution.


def test_reset_keeps_every_file(said, desk):
    file = desk / "exercises" / FOLDER / f"{paths.slug(FOLDER)}.py"
    stub = file.read_bytes()
    assert "Your file is kept" not in said("reset", NUMBER, cwd=desk).stdout
    for text in ("first = 1\n", "second = 2\n", "third = 3\n"):  # within a second or two
        file.write_text(text)
        assert "Your file is kept: exercises/" in said("reset", NUMBER, cwd=desk).stdout
        assert file.read_bytes() == stub
    file.unlink()
    assert said("reset", NUMBER, cwd=desk).returncode == 0 and file.read_bytes() == stub
    kept = file.parent.glob(f"{file.stem}.before-2*.py")
    assert sorted(path.read_text() for path in kept) == ["first = 1\n", "second = 2\n", "third = 3\n"]


def test_the_solution_is_shown_once_passed(said, desk):
    refused = said("solution", NUMBER, cwd=desk)
    assert refused.returncode == 2
    assert f"make solution EX={NUMBER} FORCE=1" in refused.stderr and f"make hint EX={NUMBER}" in refused.stderr
    forced = said("solution", NUMBER, "--force", cwd=desk)
    assert "-     raise NotImplementedError" in forced.stdout and "+     scores = inputs @ inputs.T" in forced.stdout
    paths.notice(FOLDER).write_text(
        "One product for all tokens.\n\nDig deeper: what does `dim=0` mean? Answer: down\nthe columns.\n"
    )
    noticed = said("solution", NUMBER, "--force", cwd=desk).stdout
    order = ["+     scores", "What to notice", "Dig deeper: what does dim=0", "Answer: down", "Go further", "▾ Answer"]
    assert [noticed.index(words) for words in order] == sorted(map(noticed.index, order))
    style = paths.ROOT / "solutions" / FOLDER / "right"
    shutil.copy(next(style.glob("*.py")), desk / "exercises" / FOLDER / f"{paths.slug(FOLDER)}.py")
    assert said("check", NUMBER, cwd=desk).returncode == 0
    assert "+ the reference" in said("solution", NUMBER, cwd=desk).stdout


def test_a_comparison_holds_every_line_that_differs():
    mine = "def f(x):\n    a = 1\n    return x\n" + "same\n" * 20 + "mine alone\n"
    theirs = "def f(x):\n    return x + 1\n" + "same\n" * 20
    for width in (80, 200):
        console = Console(width=width, record=True, file=io.StringIO())
        for part in solution.compare(mine + "\x1b[31m\n", theirs, width):
            console.print(part)
        text = console.export_text()
        assert "mine alone" in text and "return x + 1" in text and "\x1b" not in text
        assert max(map(len, text.splitlines())) <= width
        assert text.count("same") == (20 if width == 80 else 40)
    assert "line by line" in next(solution.compare(mine, mine, 80)).plain


# The history.


def _grade_often(history, times):
    paths.PROGRESS, paths.LAST_RESULTS = history, history.with_name(".kata-results")
    for _ in range(times):
        progress.note(result({1: FAILED}))


def test_processes_lose_no_attempt_and_the_file_is_whole_at_any_moment(history):
    progress.note(result({1: FAILED}))
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_grade_often, args=(history, 20)) for _ in range(3)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert json.loads(history.read_text())["schema"] == progress.SCHEMA
    assert progress.load()[FOLDER].attempts == 61


def test_a_history_that_is_damaged_or_none_of_ours_is_set_aside(said, history):
    changes = ({"points": "many"}, {"attempts": -1}, {"hints": [1]}, {"points": float("inf")}, {"new": 1})
    states = ({FOLDER: {"points": 1.0, "attempts": 1} | change} for change in changes)
    texts = ["{", "[]", '{"schema": 99}', '{"schema": 2, "exercises": {"03": 5}}', "\x00"]
    for text in (*texts, *(json.dumps({"schema": 2, "exercises": state}) for state in states)):
        history.write_text(text)
        done = said("progress")
        assert done.returncode == 0 and "not started" in done.stdout and progress.load() == {}
        progress.note(result({1: FAILED}))
        assert text in [path.read_text() for path in history.parent.glob(f"{history.name}.damaged-*")]
        assert progress.load()[FOLDER].attempts == 1


def test_the_last_verdict_is_kept_and_read_back(history):
    assert progress.last(FOLDER) is None
    verdict = result({1: PASSED, 2: FAILED})
    progress.note(verdict)
    assert progress.last(FOLDER) == verdict
    paths.last_result(FOLDER).write_text("{")
    assert progress.last(FOLDER) is None


def test_what_was_passed_once_stays_done(history):
    progress.note(result({1: PASSED}, PASSED))
    first = progress.load()[FOLDER].first_pass
    progress.note(result({1: FAILED}))
    state = progress.load()[FOLDER]
    assert state.done and state.first_pass == first and state.status == "passed"
    assert f"{time.strftime('%Y-%m-%d', time.localtime(first))}, 2 tries" in progress.text()


def test_a_notebook_and_a_file_have_a_verdict_each_and_the_better_counts(history):
    progress.note(replace(result({1: PASSED}, PASSED), checks=(CheckResult("a", "A.", PASSED, 2.0, 2.0),)))
    progress.note(replace(result({1: FAILED}), started=False), kind=progress.NOTEBOOK)
    state = progress.load()[FOLDER]
    assert (state.status, state.points) == ("passed", 2.0)
    assert progress.last(FOLDER).status == PASSED and not progress.last(FOLDER, progress.NOTEBOOK).started


def test_a_history_with_the_states_of_files_is_read(history):
    for status in ("begun", "not started"):
        state = {"points": 1.0, "attempts": 1, "files": {"py": {"status": status, "points": 1.0}}}
        history.write_text(json.dumps({"schema": 2, "exercises": {FOLDER: state}}))
        assert (progress.load()[FOLDER].status, progress.load()[FOLDER].attempts) == (status, 1)


def test_the_standing_fits_eighty_columns(history):
    progress.change(FOLDER, lambda state: state.__dict__.update(points=3.3, attempts=123))
    progress.note(result({1: PASSED}, PASSED))
    text = progress.text()
    assert max(map(len, text.splitlines())) <= 80 and "124 tries" in text and text.count(" 1 of ") == 1
    absent = sum(bool(project.not_here(exercise.limits.needs)) for exercise in catalog.exercises())
    assert text.count(project.NOT_HERE) == absent  # what this machine lacks the packages for
