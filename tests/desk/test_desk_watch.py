"""The watch, in a real terminal, with real files and a real fork_server."""

import contextlib
import json
import os
import re
import signal
import sys
import time

import pytest
from at_terminal import WATCH, AtTerminal, checkout
from waiting import gone, soon

from grader import catalog
from grader.catalog import mistakes, paths
from grader.desk import watch

pytestmark = pytest.mark.slow

FIRST, SECOND, EXERCISE, NEXT = (exercise.folder for exercise in catalog.for_class()[:4])
SOLUTION = paths.solution(EXERCISE).read_text("utf-8")
WRONG = next(known.source for known in mistakes.mistakes(EXERCISE) if "weights twice" in known.sentence)
PLACED = next(line.strip() for line in WRONG.splitlines() if line not in SOLUTION.splitlines())  # it is underlined
FAILED = "of 13 checks passed"
TASK_1_DONE = (
    SOLUTION.split("def context_vector(")[0]
    + "\n\ndef context_vector(inputs, query_index):\n    raise NotImplementedError\n"
)
ROWS = 80  # every verdict fits; a save is known by what it prints, which stands last
PASSED = {"points": 5.0, "attempts": 1, "first_pass": 1_700_000_000}


class Learner:
    """A learner at the watch, with a file that says in the verdict which save it was.

    first_page: what was shown first, in 24 lines.
    """

    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "exercises" / EXERCISE / f"{paths.slug(EXERCISE)}.py"
        self.number = 0
        self.open()

    def open(self) -> None:
        """Start the watch, with two exercises done and the third one not begun."""
        states = {FIRST: PASSED, SECOND: PASSED}
        (self.folder / ".kata-progress.json").write_text(json.dumps({"schema": 2, "exercises": states}))
        self.file.write_text(paths.stub(EXERCISE).read_text("utf-8"))
        self.desk = AtTerminal(WATCH, self.folder, 24)
        self.first_page = self.desk.shows("Not started", "q quit")
        self.desk.resize(ROWS, 80)

    def source(self, source: str = SOLUTION) -> tuple[str, str]:
        """The source of a save, and what its verdict shows."""
        self.number += 1
        return f"{source}\nprint('save {self.number}.')\n", f"│ save {self.number}."

    def save(self, source: str = SOLUTION) -> str:
        """Save in place; gives the page of the verdict."""
        text, shown = self.source(source)
        self.file.write_text(text)
        return self.desk.shows(shown)

    def press(self, keys: str, *shown: str) -> str:
        """Type; gives the page that shows all of this then."""
        self.desk.type(keys)
        return self.desk.shows(*shown)

    def back(self) -> str:
        """Any key leads from another page to the verdict."""
        return self.press("x", "points ·")


@pytest.fixture(scope="module")
def only_learner(tmp_path_factory):
    learner = Learner(checkout(tmp_path_factory.mktemp("desk")))
    yield learner
    learner.desk.close()


@pytest.fixture
def learner(only_learner):
    """One learner for all tests, whose window is open: each begins with a save."""
    if only_learner.desk.closed:  # by the test that closes it, where that is not the last one
        only_learner.open()
    only_learner.desk.resize(ROWS, 80)
    return only_learner


def fork_server_of(pid: int) -> list[int]:
    """The processes that a process has started, and those that these have."""
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children") as children:
            for child in map(int, children.read().split()):
                found += [child, *fork_server_of(child)]
    return found


def test_it_opens_at_the_first_exercise_that_is_not_done(learner):
    page = learner.first_page
    assert page.startswith(f"{EXERCISE[:2]} ") and f"exercises/{EXERCISE}/" in page
    assert "Task 1  attention_weights(inputs)" in page
    assert "o lesson  h hint  t try  g plot  s solution  n next  l list  ? keys  q quit" in page
    assert max(map(len, page.splitlines())) <= 80 and len(page.splitlines()) <= 24


def test_every_save_is_graded(learner):
    assert FAILED in learner.save(WRONG)
    page = learner.save()
    assert "7 of 7 points · 13 checks" in page and f"n: on to {NEXT[:2]}" in page
    assert f"3 of {len(catalog.exercises())} passed" in page and "make experiment EX=03" in page  # it counts at once


def test_a_mistake_has_its_line_hints_about_it_and_all_checks_on_demand(learner):
    learner.save(WRONG)
    learner.desk.shows(PLACED, "weights twice")
    learner.press("h", "Hint about your mistake", "3 more for this task")
    learner.press("h", "Hint 1 of 3", "2 more for this task")
    page = learner.press("a", "checked without context_vectors")
    assert page.count("✔ Task") + page.count("✘ Task") + page.count("– Task") == len(catalog.find(EXERCISE).points)
    learner.desk.type("a")
    assert "✔ Task" not in learner.desk.shows("a: show all")


def rename(file, text):
    """As vim does it: the old file becomes a backup, then the new one is renamed."""
    new, backup = file.with_suffix(".tmp"), file.with_name(f"{file.name}~")
    new.write_text(text)
    file.rename(backup)
    new.rename(file)
    backup.unlink()


def write_anew(file, text):
    file.unlink()
    time.sleep(0.03)
    file.write_text(text)


def write_in_pieces(file, text):
    with file.open("w") as opened:
        time.sleep(0.03)  # empty
        for piece in (text[:400], text[400:700]):
            opened.write(piece)
            opened.flush()
            time.sleep(0.03)  # broken
        opened.write(text[700:])


def test_however_an_editor_saves_only_the_whole_file_is_graded(learner):
    learner.save()
    began = len(learner.desk.transcript)
    for save in (rename, write_anew, write_in_pieces, rename):
        text, shown = learner.source()
        save(learner.file, text)
        learner.desk.shows(shown)
    said = learner.desk.transcript[began:]
    assert not [words for words in ("SyntaxError", "is empty", "There is no file") if words in said]


def test_a_file_that_stays_broken_empty_or_away_is_said_to_be(learner):
    learner.file.write_text("def attention_weights(inputs:\n")
    page = learner.desk.shows("SyntaxError")
    assert f"exercises/{EXERCISE}/{learner.file.name}:1" in page
    learner.file.write_text("")
    learner.desk.shows("is empty")
    learner.save()
    learner.file.unlink()
    page = learner.desk.shows("There is no file", "make reset EX=03. Or press r")
    assert "points" not in page


def test_a_grading_of_an_older_save_is_given_up(learner):
    endless, shown = learner.source(SOLUTION + "\nwhile True: pass\n")
    learner.file.write_text(endless)
    learner.desk.shows("grading …")
    began = time.monotonic()
    learner.save()
    assert time.monotonic() - began < 4.5  # a call is given 5 s
    time.sleep(1)
    assert "infinite loop" not in learner.desk.transcript and shown not in learner.desk.transcript


def test_a_resized_terminal(learner):
    learner.save(WRONG)
    learner.desk.resize(20, 50)
    learner.desk.shows("points", "quit")
    # It is drawn again a moment later. A place in a file stays whole, for the terminal to link.
    assert soon(lambda: all(len(line) <= 50 or "exercises/" in line for line in learner.desk.screen.splitlines()), 10)
    assert FAILED in " ".join(learner.desk.screen.split())


def test_a_fork_server_that_dies_is_replaced(learner):
    learner.save()
    for pid in fork_server_of(learner.desk.process.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert FAILED in learner.save(WRONG)


def test_what_is_longer_than_the_screen_scrolls_from_its_head(learner):
    learner.save(WRONG)
    learner.desk.shows(PLACED)  # nothing more will come
    learner.press("a", "✔ Task")
    learner.desk.resize(24, 80)
    head = learner.desk.shows("lines 1 to", "q quit")
    assert head.startswith(f"{EXERCISE[:2]} ") and len(head.splitlines()) == 24
    tail = learner.press("\x1b[F", "│ save")
    assert not tail.startswith(f"{EXERCISE[:2]} ") and "q quit" in tail.splitlines()[-1] and FAILED in tail
    learner.press("\x1b[A", tail.splitlines()[0])  # one line further down
    learner.press("\x1b[Ha", "a: show all")


def test_a_hint_is_for_the_task_that_is_shown_and_goes_with_it(learner):
    learner.file.write_text(paths.stub(EXERCISE).read_text("utf-8"))
    learner.desk.shows("Task 1  attention_weights", "Not started")
    for stage in (1, 2, 3):
        page = learner.press("h", f"Hint {stage} of 3 for task 1")
        assert "$" not in page and "\\" not in page
    learner.press("h", "You have seen every hint for task 1", "Task 1  attention_weights")
    learner.save(TASK_1_DONE)
    learner.desk.shows("Task 2  context_vector(")
    assert "for task 1" not in learner.desk.screen
    learner.file.write_text("def attention_weights(inputs:\n")
    learner.desk.shows("SyntaxError")
    learner.press("h", "for task 2")  # with which one goes on


def test_each_key_opens_a_page_and_any_other_key_leads_back(learner):
    learner.save()
    every = {
        "t": ("3 of 3 are as in the lesson", "✔ attention_weights(inputs)"),
        "l": ("to GPT-2's attention", *(exercise.title for exercise in catalog.exercises())),
        "?": ("end the watch",),
        "w": ("03_context_vectors trains no model",),
    }
    pages = {}
    for key, texts in every.items():
        pages[key] = learner.press(key, *texts, "other keys: back")
        learner.back()
    assert pages["t"].startswith(f"{EXERCISE[:2]} ")
    assert all(re.search(rf"^{re.escape(key)} +{name} ", pages["?"], re.M) for key, (name, *_) in watch.KEYS.items())
    assert set(watch.FOOT) <= set(watch.KEYS)


def test_the_list_stays_open_over_a_save(learner):
    learner.save()
    learner.press("l", "to GPT-2's attention", "other keys: back")
    text, shown = learner.source()
    learner.file.write_text(text)
    verdict = learner.folder / ".kata-results" / f"{EXERCISE}.json"
    assert soon(lambda: f"save {learner.number}." in verdict.read_text("utf-8"))
    assert "other keys: back" in learner.desk.screen
    learner.press("x", shown)


def test_one_walks_the_list_with_arrows_opens_with_enter_and_goes_on_with_n(learner):
    learner.save()
    titles = [f"{one.folder[:2]} {one.title}" for one in catalog.exercises()]
    learner.desk.resize(14, 80)
    learner.press("l", "Enter: open")
    for keys, place in (("\x1b[B", 4), ("\x1b[A\x1b[A", 2), ("\x1b[F", len(titles) - 1), ("\x1b[H", 0)):
        learner.press(keys, titles[place])  # it scrolls along
    learner.desk.type("\x1b[B\n")
    learner.desk.resize(ROWS, 80)
    learner.desk.shows("exercises/01_dot_product_scores/")
    learner.press("l\x1b[B\x1b[B\n", f"exercises/{EXERCISE}/", "points ·")
    learner.press("n", f"{NEXT[:2]} ", "Not started")
    learner.press("s", f"You have not passed {NEXT[:2]} yet", "other keys: back")
    learner.press("l\x1b[A\n", f"exercises/{EXERCISE}/", "points ·")


def test_the_lesson_with_formulas_as_text_from_where_it_was_left_and_its_answers_on_demand(learner):
    learner.save()
    learner.desk.resize(24, 80)
    page = learner.press("o", "03 Context vectors", "e: the next answer", "lines 1 to")
    assert "</" not in page and "$" not in page and "](" not in page
    learner.press(" ", "lines 22 to")
    learner.back()
    learner.press("o", "lines 22 to")
    page = learner.press("e", "▾")
    assert page.count("▾") == 1  # one answer, and none of those to come
    learner.press("eh", "points ·")  # a key of the main page does what it says there


def test_solution_and_reset(learner):
    learner.save()  # the solution opens once the exercise is passed
    learner.save(WRONG)
    learner.press("s", "- yours   + the reference", "other keys: back")
    learner.back()
    mine = learner.file.read_text()
    learner.press("r", "y: yes, any other key: no")
    learner.press("n", "points ·")
    assert learner.file.read_text() == mine
    learner.press("r", "y: yes, any other key: no")
    learner.press("y", "Not started")
    kept = [path for path in learner.file.parent.iterdir() if path.name.startswith(f"{learner.file.stem}.before-")]
    assert [path.read_text() for path in kept] == [mine]


def test_a_closed_window_leaves_nothing_behind_but_what_was_done(learner):
    learner.save()
    children = fork_server_of(learner.desk.process.pid)
    assert children and not learner.desk.echoes
    learner.desk.close()
    assert learner.desk.process.returncode is not None
    assert gone(*children)
    states = json.loads((learner.folder / ".kata-progress.json").read_text())["exercises"]
    assert states[EXERCISE]["first_pass"] and states[EXERCISE]["attempts"] == 0  # a save is no try
    last = json.loads((learner.folder / ".kata-results" / f"{EXERCISE}.json").read_text())
    assert last["status"] == "passed"


def test_make_start_is_stopped_and_goes_on_and_ctrl_c_ends_it_which_is_no_error_of_make(tmp_path):
    """Here without watchfiles, so that the file is read again and again."""
    folder = checkout(tmp_path)
    (folder / "watchfiles.py").write_text("raise ImportError\n")
    file = folder / "exercises" / EXERCISE / f"{paths.slug(EXERCISE)}.py"
    with AtTerminal(["bash", "--norc", "-i"], folder, PS1="ready> ") as shell:
        shell.type(f"env -u CI -u MAKEFLAGS make start EX=03 PYTHON={sys.executable}\n")
        shell.shows("Not started")
        shell.type("\x1a")
        place = shell.says("Stopped")
        shell.says("ready> ", place)
        file.write_text(SOLUTION)
        shell.type("echo still $((40+2))\n")
        place = shell.says("still 42", place)
        shell.type("fg\n")
        shell.shows("7 of 7 points · 13 checks")
        file.write_text(WRONG)  # in the same second
        shell.shows(FAILED)
        children = fork_server_of(shell.process.pid)
        shell.type("\x03")
        place = shell.says("ready> ", len(shell.transcript))
        shell.type("stty -a\n")  # which the shell leaves as the watch has left it
        shell.says("ready> ", shell.says("icanon", place))
        assert " -icanon" not in shell.transcript and " -echo " not in shell.transcript
        assert "Traceback" not in shell.transcript and "***" not in shell.transcript
        assert len(children) > 3 and gone(*children)  # make, the watch, its fork server and a worker


def test_without_a_terminal_it_says_so(cli):
    done = cli("start", "03")
    assert done.returncode == 2
    assert done.stderr == "The watch needs a terminal. Without one, grade once: make check\n"
