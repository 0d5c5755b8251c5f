"""Lessons, read from their text only."""

import ast
import re

import pytest

from grader import catalog
from grader.authoring import parts
from grader.catalog import paths
from grader.catalog.exercise import Limits

EXERCISES = catalog.exercises()
FOLDERS = [exercise.folder for exercise in EXERCISES]


def test_the_page_of_promises_says_the_limits():
    text, limits = paths.PROMISES.read_text("utf-8"), Limits()
    rows = text.partition("## Limits of time and memory")[2].partition("\n## ")[0]
    said = (
        f"{limits.call_s:g} seconds on the clock",
        f"{limits.call_cpu_s:g} second of a processor's time",
        f"memory, {2 * limits.call_cpu_s:g} seconds with it",
        f"{limits.measured_s:g} seconds of a processor's time",
        f"{limits.load_cpu_s:g} seconds of a processor's time",
        f"memory, {2 * limits.load_cpu_s:g} with it",
        f"| {limits.total_s:g} seconds |",
        f"{limits.memory_mb:,} MiB",
    )
    assert [words for words in said if words not in rows] == []
    for exercise in EXERCISES:
        own = {name: value for name, value in vars(exercise.limits).items() if value != getattr(limits, name)}
        assert own.keys() <= {"call_s", "call_cpu_s", "needs", "measured"}, "the page does not say this limit"
        number, seconds = exercise.folder[:2], exercise.limits.call_cpu_s
        assert "call_s" not in own or f"{own['call_s']:g} in exercise {number}" in rows
        assert "call_cpu_s" not in own or f"({seconds:g} and {2 * seconds:g} in exercise {number})" in rows


def test_each_lesson_has_the_form_that_verify_demands():
    readers = (parts.wrong_lesson, parts.wrong_experiment, parts.wrong_cards, parts.wrong_figure)
    assert [str(problem) for folder in FOLDERS for read in readers for problem in read(folder)] == []
    assert [str(problem) for exercise in EXERCISES for problem in parts.wrong_misconceptions(exercise)] == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_stub_has_no_name_that_its_lesson_does_not_speak_of(folder):
    """But for what it is given of an earlier exercise."""
    lesson, stub = (path(folder).read_text("utf-8") for path in (paths.lesson, paths.stub))
    for node in ast.parse(stub).body:
        names = [ast.unparse(target) for target in getattr(node, "targets", ())]
        if isinstance(node, ast.FunctionDef) and "# given" not in stub.splitlines()[node.lineno - 1]:
            names.append(node.name)
        assert [name for name in names if name not in lesson] == [], "a leftover of the solution?"


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_is_given_has_its_body_in_the_stub(folder):
    """`# given` counts on the def line alone: below it, a signature of several lines would lose its body."""
    solution, stub = (path(folder).read_text("utf-8") for path in (paths.solution, paths.stub))
    lines = [line for line in solution.splitlines() if line.endswith("# given")]
    assert [line for line in lines if not line.lstrip().startswith(("def ", "class "))] == []
    for node in ast.walk(ast.parse(stub)):
        if isinstance(node, ast.FunctionDef) and "# given" in stub.splitlines()[node.lineno - 1]:
            assert "NotImplementedError" not in ast.unparse(node), node.name


def test_each_diagram_is_shown():
    for folder in FOLDERS:
        lesson = paths.lesson(folder).read_text("utf-8")
        assert all(f"]({path.name})" in lesson for path in paths.diagrams(folder)), folder


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_lesson_builds_on_smaller_numbers_and_a_link_says_the_number_that_it_leads_to(folder):
    for page in (paths.lesson(folder), paths.hints(folder), paths.review(folder)):
        text = page.read_text("utf-8") if page.exists() else ""
        for said, linked in re.findall(r"\[(\d\d)\b[^\]]*\]\(\.\./(\d\d)_", text):
            assert said == linked, (page.name, said, linked)
        for number in re.findall(r"\b[Ee]xercises? (\d\d)\b", text):
            assert int(number) < len(EXERCISES), (page.name, number)
    (head,) = re.findall(r"^\*\d+ minutes · .* · builds on (.*)\*$", paths.lesson(folder).read_text("utf-8"), re.M)
    assert all(number < folder[:2] for number in re.findall(r"\((?:\.\./)(\d\d)_", head)), head


@pytest.mark.parametrize("path", catalog.learning_paths(), ids=lambda path: path.name)
def test_after_each_path_but_the_warm_up_come_five_problems_with_folded_answers(path):
    *others, last = [exercise.folder for exercise in EXERCISES if exercise.path == path]
    assert not [folder for folder in others if paths.problems(folder).exists()]
    assert paths.problems(last).exists() is not path.warm_up
    if path.warm_up:
        return
    assert paths.lesson(last).read_text("utf-8").count("](problems.md)") == 1, "its lesson links them once"
    head, *problems = paths.problems(last).read_text("utf-8").split("\n## ")
    assert head.startswith(f'# Problems after "{path.name}"\n\n') and len(re.findall(r"[.?!](?:\s|$)", head)) <= 2
    titles = [problem.partition("\n")[0] for problem in problems]
    assert [title[:3] for title in titles] == ["1. ", "2. ", "3. ", "4. ", "5. "]
    assert sum(title[3:].startswith("By hand: ") for title in titles) == 2 and titles[-1].startswith("5. Real code: ")
    folded = "\n\n<details>\n<summary>Answer</summary>\n\n"
    for problem in problems:
        question, answer = problem.split(folded)
        assert answer.rstrip().endswith("\n\n</details>") and answer.count("</details>") == 1, question
        asked, answered = (re.findall(r"^\d\. ", part, re.M) for part in (question.partition("\n")[2], answer))
        assert len(asked) == len(answered) or not asked, question


def test_each_path_is_a_range_of_numbers_and_follows_the_one_before():
    numbers = [number for path in catalog.learning_paths() for number in path.numbers]
    assert numbers == [folder[:2] for folder in FOLDERS]
