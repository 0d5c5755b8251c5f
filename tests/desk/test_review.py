"""Questions some days after a pass: their files, when they come, how they are asked, and that code is really graded."""

import json
import sys
from datetime import date, datetime, timedelta

import pytest
from at_terminal import AtTerminal, checkout
from thorough import sample
from waiting import soon

from grader import catalog
from grader.authoring import parts
from grader.catalog import cards, paths
from grader.catalog.cards import Card
from grader.catalog.errors import BadLine
from grader.desk import progress, review
from grader.integrations import bundle

pytestmark = pytest.mark.slow

FIRST, SECOND = "01_dot_product_scores", "06_scaled_dot_product_attention"
DAY = date(2026, 3, 2)
FOLDERS = [exercise.folder for exercise in catalog.exercises()]
GOOD = "# Review\n\n## Why\n\nWhy?\n\n<details>\n<summary>Answer</summary>\n\nSo.\n\n</details>\n"
CODE = GOOD.replace("## Why", "## Write `f`")
BAD = {
    GOOD.replace("Why?", ""): "“Why” asks nothing",
    GOOD.replace("<details>\n", ""): "“Why” does not end with `<details>`",
    GOOD + "More.\n": "“Why” does not end with `<details>`",
    GOOD + GOOD.removeprefix("# Review\n"): "two cards have the heading “Why”",
    CODE: "has no block whose first line is `def f(…):`",
    CODE.replace("Why?", "```python\ndef f(x):\n    return x\n```"): "must show one `...`",
    CODE.replace("Why?", "```python\ndef f(x):\n    return g(..., 1)\n```"): "must show one `...`",
    CODE.replace("Why?", "```python\ndef f(x):\n    ...\n```"): "does not begin with a block of code",
}
WHOLE = "def f(x):\n    ...\n"
TAIL = "def f(x):\n    y = ...\n    return y\n"
FILLED = (
    (WHOLE, "x + 1", "def f(x):\n    return x + 1\n"),
    (WHOLE, "    return x", "def f(x):\n    return x\n"),
    (WHOLE, "y = x\ny + 1", "def f(x):\n    y = x\n    return y + 1\n"),
    (WHOLE, "for y in x:\n    z = y\nreturn z", "def f(x):\n    for y in x:\n        z = y\n    return z\n"),
    (WHOLE, r"'\1 \n'", "def f(x):\n    return '\\1 \\n'\n"),
    (WHOLE, "x @@ x", "def f(x):\n    x @@ x\n"),
    (TAIL, "x + 1", "def f(x):\n    y = x + 1\n    return y\n"),
    (TAIL, "y = x + 1", "def f(x):\n    y = x + 1\n    return y\n"),
    ("def f(x):\n    return ...\n", "return x", "def f(x):\n    return x\n"),
    ("def f(x):\n    a, b = ...\n    return a\n", "a, b = x", "def f(x):\n    a, b = x\n    return a\n"),
)


@pytest.fixture
def clock(monkeypatch):
    """`clock(3)` makes it three days after DAY."""

    def turn(days: int) -> date:
        monkeypatch.setattr(review, "today", lambda: DAY + timedelta(days=days))
        return review.today()

    turn(0)
    return turn


def noon(day: date) -> int:
    """Noon of a day by this machine's clock, in seconds since 1970."""
    return int(datetime(day.year, day.month, day.day, 12).timestamp())


def passed(*folders: str, day: date = DAY) -> None:
    for folder in folders:

        def edit(state: progress.State) -> None:
            state.points, state.attempts, state.first_pass = 5.0, 2, noon(day)

        progress.change(folder, edit)


def due() -> list[Card]:
    return review.due(review.schedule())


# The files.


@pytest.mark.parametrize("folder", sample(FOLDERS, 6))
def test_each_answer_passes_its_checks_and_a_wrong_one_is_refused(folder, fork_server):
    for code_card in cards.read(folder):
        if code_card.function:
            assert review.judge(code_card, code_card.right, fork_server) is None, code_card.title
            assert review.judge(code_card, "None", fork_server), code_card.title


def test_a_bundle_has_the_questions_and_no_answer_in_code():
    for folder in FOLDERS:
        text = dict(bundle.of_exercise(folder))[f"exercises/{folder}/review.md"].decode()
        assert text.startswith(f"# Review of {folder[:2]} ") and text.endswith("</details>\n"), folder
        kept = [found.title for found in cards.read(folder) if not found.function]
        assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == kept and "Write `" not in text


def test_a_file_that_is_not_in_order_is_refused_with_its_line(desk):
    for text, reason in BAD.items():
        paths.review(FIRST).write_text(text)
        with pytest.raises(BadLine, match=r"review\.md:"):
            cards.read(FIRST)
        (problem,) = parts.wrong_cards(FIRST)
        assert reason in problem.reason and problem.line >= 3


def test_verify_demands_the_file_and_enough_cards_and_a_function_of_the_stub(desk):
    paths.review(FIRST).write_text(GOOD)
    assert [problem.reason for problem in parts.wrong_cards(FIRST)] == ["1 cards are here, and 3 are the least"]
    text = paths.review(SECOND).read_text("utf-8")
    paths.review(FIRST).write_text(text)
    assert "the stub has no function `scaled_attention_weights`" in str(*parts.wrong_cards(FIRST))
    paths.review(FIRST).unlink()
    told = [str(problem) for problem in parts.problems(catalog.find(FIRST))]
    assert len(told) == 1 and "review.md: the file of cards for make review is missing" in told[0], told
    assert cards.read(FIRST) == ()


# When a card comes.


def test_a_card_comes_after_a_day_a_week_a_month_and_then_every_90_days(history, clock):
    passed(FIRST)
    assert due() == [] and review.outlook(review.schedule()) == "The next question comes tomorrow."
    day, found = 0, []
    for _ in range(6):
        while not due():
            day += 1
            clock(day)
        found.append(day)
        for one in due():
            review.note(one, True)
    assert [later - earlier for earlier, later in zip([0, *found], found)] == [1, 7, 30, 90, 90, 90]


def test_a_card_that_was_not_known_comes_again_the_next_day_and_begins_anew(history, clock):
    passed(FIRST)
    clock(1)
    first, *others = due()
    for one in (first, *others):
        review.note(one, True)
    clock(8)
    review.note(first, False)
    assert first not in due()
    clock(9)
    assert first in due()
    review.note(first, True)
    clock(15)
    assert first not in due()
    clock(16)
    assert first in due()


def test_what_waits_longest_comes_first(history, clock):
    passed(SECOND)
    passed(FIRST, "00_before_you_start", day=DAY + timedelta(days=1))
    clock(2)
    assert [found.exercise for found in due()] == [SECOND] * 3 + ["00_before_you_start"] * 3 + [FIRST] * 3
    assert len(set(due())) == 9
    clock(1)
    assert [found.exercise for found in due()] == [SECOND] * 3


def test_a_history_of_the_future_days_is_not_lost_by_a_clock_set_back(history, clock):
    passed(FIRST)
    clock(1)
    review.note(due()[0], True)
    clock(-400)
    assert due() == [] and review.outlook(review.schedule()) == f"The next question comes on {DAY + timedelta(days=1)}."


# What is typed.


def test_what_is_typed_takes_the_place_of_the_blank():
    for code, typed, filled in FILLED:
        assert Card(FIRST, "Write `f`", f"```python\n{code}```", "", "f", 1).fill(typed) == filled


def test_the_graders_own_words_say_what_is_wrong(fork_server):
    scaled = next(found for found in cards.read(SECOND) if found.function)
    assert "√d_k" in review.judge(scaled, "query @ keys.transpose(-2, -1)", fork_server).diagnosis
    assert "SyntaxError" in review.judge(scaled, "query @", fork_server)
    assert "use no other function" in review.judge(scaled, "attention_score(query, keys)", fork_server)
    stable = next(found for found in cards.read("02_softmax_naive") if found.function)
    assert review.judge(stable, "torch.softmax(x, dim) * 0 + x.amax(dim=dim, keepdim=True)", fork_server)


# The command.


def test_without_a_terminal_nothing_is_asked(said, desk, clock):
    passed(FIRST, SECOND)
    clock(1)
    done = said("review", cwd=desk)
    assert done.returncode == 2 and done.stdout == "" and "at a terminal" in done.stderr


def test_nothing_due_says_when_the_next_one_is(said, desk, clock):
    assert "the day after you pass an exercise: make check" in said("review", cwd=desk).stdout
    passed(FIRST)
    done = said("review", cwd=desk)
    assert done.returncode == 0
    assert done.stdout == "Nothing is due. The next question comes tomorrow.\n"
    clock(1)
    for one in due():
        review.note(one, True)
    assert "The next question comes on 2026-03-10." in said("review", cwd=desk).stdout


def test_progress_says_what_is_due(said, desk, clock, request):
    passed(FIRST)
    assert "due" not in said("progress", cwd=desk).stdout
    clock(1)
    assert said("progress", cwd=desk).stdout.endswith("\n3 questions are due: make review\n")
    assert "3 questions are due: make review" in said("welcome", cwd=desk).stdout
    for one in due()[1:]:
        review.note(one, True)
    assert said("progress", cwd=desk).stdout.endswith("\n1 question is due: make review\n")
    request.getfixturevalue("lenient")
    paths.review(FIRST).write_text(GOOD.replace("Why?", ""))  # broken by hand: the history is shown all the same
    done = said("progress", cwd=desk)
    assert done.returncode == 0 and "Dot-product scores" in done.stdout and "review.md:" in done.stderr


def test_a_learner_answers_at_a_terminal_and_ctrl_c_keeps_what_was_answered(tmp_path):
    folder = checkout(tmp_path)
    yesterday = date.today() - timedelta(days=1)
    state = {"points": 5.0, "attempts": 1, "first_pass": noon(yesterday)}
    history = folder / ".kata-progress.json"
    history.write_text(json.dumps({"schema": 2, "exercises": {FIRST: state}}))
    with AtTerminal([sys.executable, "-m", "grader", "--make", "review"], folder, rows=40) as terminal:
        place = terminal.says("Enter shows the answer", 0)
        assert "direction" not in terminal.transcript
        terminal.type("\r")
        place = terminal.says("Did you know it?", place)
        assert "direction" in terminal.transcript
        terminal.type("perhaps\r")
        place = terminal.says("Please enter Y or N", place)
        place = terminal.says("Did you know it?", place)
        terminal.type("n\r")
        place = terminal.says("Enter alone shows the answer", place)
        for typed, told in (("inputs @ inputs", "Try once more"), ("inputs.T @ inputs", "One right answer")):
            place = terminal.says(">>>", place)
            assert "inputs @ inputs.T" not in terminal.transcript
            terminal.type(f"{typed}\r\r")
            place = terminal.says(told, place)
        place = terminal.says("inputs @ inputs.T", place)
        place = terminal.says("Enter goes on", place)
        for _ in range(5):  # readline loses a Ctrl-C that comes between its prompt and its first look at the keys
            terminal.type("\x03")
            if soon(lambda: "0 of 2 known" in terminal.transcript, 5):
                break
        assert terminal.ends() == 0
        assert "0 of 2 known. 2 come again tomorrow. 1 question is due: make review" in terminal.transcript
        assert "Traceback" not in terminal.transcript and terminal.echoes
    tomorrow = {"step": 0, "due": (date.today() + timedelta(days=1)).isoformat()}
    kept = json.loads(history.read_text())["exercises"][FIRST]
    assert list(kept["cards"].values()) == [tomorrow, tomorrow]
    assert (kept["attempts"], kept["points"]) == (1, 5.0)
