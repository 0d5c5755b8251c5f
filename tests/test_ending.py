"""What a learner reads after a pass: what they can do now, the end of a path, the end of all."""

import pytest

from grader import catalog
from grader.desk import ending, progress

ORDER = catalog.by_path()
PASSED = progress.State(first_pass=1.0)


def passed(*folders: str) -> dict[str, progress.State]:
    return dict.fromkeys(folders, PASSED)


@pytest.mark.parametrize("exercise", ORDER, ids=lambda exercise: exercise.folder)
def test_every_lesson_says_what_one_can_do_after_it(exercise):
    sentence = ending.ability(exercise.folder)
    assert sentence.startswith("You can now ") and sentence.endswith(".") and sentence.count("\n") == 0
    assert 40 < len(sentence) < 240 and "](" not in sentence and "…" not in sentence


def test_a_path_ends_with_what_it_leads_to():
    seeds = [one.folder for one in ORDER if one.path.name == "the seeds"]
    *others, last = seeds
    assert ending.completed_path(last, passed(*others)) == (
        f"That completes the path “the seeds”. You can now {ORDER[1].path.after}. {ending.KEEP}."
    )
    assert ending.completed_path(last, passed(*others[1:])) == ""


def test_what_comes_next_is_the_next_open_exercise_and_then_the_first_one():
    last = ORDER[-1].folder
    assert ending.open_exercise(ORDER[0].folder, passed(ORDER[1].folder)) == ORDER[2]
    assert ending.open_exercise(last, {}) == ORDER[0]
    every = passed(*(one.folder for one in ORDER[:-1]))
    assert ending.open_exercise(last, every) is None and ending.lines(last, every)[-1] == ending.ALL_PASSED
    assert ending.ALL_PASSED not in ending.lines(last, passed(ORDER[0].folder))
