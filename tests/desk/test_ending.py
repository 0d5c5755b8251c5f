"""What a learner reads after a pass: what they can do now, the end of a path, the end of all."""

import time

from grader import catalog
from grader.catalog import paths
from grader.desk import ending, progress

ORDER = catalog.exercises()


def passed(*folders: str) -> dict[str, progress.State]:
    return dict.fromkeys(folders, progress.State(first_pass=1.0))


def test_every_lesson_says_what_one_can_do_after_it():
    for exercise in ORDER:
        said = ending.ability(exercise.folder)
        assert said.startswith("You can now ") and 40 < len(said) < 240 and "…" not in said, exercise.folder
        assert said.endswith(".") and "\n" not in said and "](" not in said, exercise.folder
        assert said.count("`") % 2 == 0, exercise.folder


def test_a_path_ends_with_what_it_leads_to():
    seeds = [one.folder for one in ORDER if one.path.name == "to GPT-2's attention"]
    *others, last = seeds
    assert ending.completed_path(last, passed(*others)) == (
        f"That completes the path “to GPT-2's attention”. You can now {ORDER[1].path.after}. This is a good place to "
        "stop. What comes next is 6 paths, in any order that “builds on” allows: 14 (a first model), 16 (today's "
        "layers), 23 (serving), 26 (long context), 29 (kernels), 33 (the finale)."
    )
    assert ending.completed_path(last, passed(*others[1:])) == ""


def test_a_path_ends_with_its_problems_where_it_has_some(monkeypatch):
    monkeypatch.chdir(paths.DESK)
    *others, last = [one.folder for one in ORDER if one.path.name == "to GPT-2's attention"]
    line = "Problems to try on paper: exercises/13_multi_head_attention/problems.md"
    assert ending.lines(last, passed(*others))[2] == ending.problems(others[0], passed(*others[1:], last)) == line
    assert ending.problems(last, passed(*others[1:])) == ending.problems(ORDER[0].folder, {}) == ""
    assert ending.problems(ORDER[-1].folder, {}).endswith("33_llama/problems.md")  # a path of one exercise


def test_what_comes_next_is_the_next_open_exercise_and_then_the_first_one():
    last = ORDER[-1].folder
    assert ending.open_exercise(ORDER[0].folder, passed(ORDER[1].folder)) == ORDER[2]
    assert ending.open_exercise(last, {}) == ORDER[0]
    one = passed(ORDER[5].folder)
    assert ending.open_exercise(states=one) == ORDER[6]  # after the one that was passed last
    assert ending.next_step(states=one) == ending.next_step(ORDER[5].folder, one)
    early, late = progress.State(first_pass=1.0), progress.State(first_pass=2.0)
    assert ending.open_exercise(states={ORDER[7].folder: early, ORDER[3].folder: late}) == ORDER[4]
    every = passed(*(one.folder for one in ORDER[:-1]))
    assert ending.open_exercise(last, every) is None and ending.lines(last, every)[-1] == ending.all_passed(last, every)
    assert ending.all_passed(last, every).startswith("You have passed every exercise. ")
    assert "every exercise" not in " ".join(ending.lines(last, passed(ORDER[0].folder)))


def test_who_left_out_the_warm_up_has_not_passed_every_exercise():
    states = passed(*(one.folder for one in ORDER[1:]))
    assert ending.open_exercise(states=states) is None
    assert ending.next_step(states=states).startswith("You have passed every exercise but 00. ")


def test_all_places_name_the_same_next_step(said, desk):
    """Progress, the welcome, and make check alone; and when all is passed, none says less than the others."""
    folder = ORDER[5].folder
    paths.stub(folder).write_text(paths.solution(folder).read_text("utf-8"))
    following = f"Next: make start EX={ORDER[6].folder[:2]}  ({ORDER[6].title})"
    assert following in said("check", folder, cwd=desk).stdout
    assert said("progress", cwd=desk).stdout.splitlines()[-1] == following
    assert f"Next is {ORDER[6].folder[:2]} {ORDER[6].title}" in said("welcome", cwd=desk).stdout
    assert f"exercises/{ORDER[6].folder}/" in said("check", cwd=desk).stdout
    for one in ORDER:
        progress.change(one.folder, lambda state: setattr(state, "first_pass", time.time()))
    for verb in ("progress", "welcome"):
        text = said(verb, cwd=desk).stdout
        assert ending.all_passed() in text and "Next:" not in text
        assert text.count("You have passed") == 1
